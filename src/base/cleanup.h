/* cleanup: resources that let themselves go at the end of their scope, and moves that show.
 *
 * Every fd starts at -1, every closer keeps errno and disarms. Ownership leaves a scope only by
 * st_steal_fd() or st_steal_ptr(), so that it can be seen. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void st_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

static inline void st_free_ptr(void *p)
{
    void **pp = p;
    int saved = errno;

    free(*pp);
    *pp = NULL;
    errno = saved;
}

static inline void st_close_dir(DIR **d)
{
    if (*d)
        closedir(*d);
    *d = NULL;
}

static inline void st_close_file(FILE **f)
{
    if (*f)
        fclose(*f);
    *f = NULL;
}

static inline int st_steal_fd(int *fd)
{
    int out = *fd;

    *fd = -1;
    return out;
}

static inline void *st_steal_voidp(void *p)
{
    void **pp = p;
    void *out = *pp;

    *pp = NULL;
    return out;
}

#define st_steal_ptr(pp) ((__typeof__(*(pp)))st_steal_voidp(pp))

#define st_auto_fd __attribute__((cleanup(st_close))) int
#define st_auto_free __attribute__((cleanup(st_free_ptr)))
#define st_auto_dir __attribute__((cleanup(st_close_dir))) DIR *
#define st_auto_file __attribute__((cleanup(st_close_file))) FILE *
