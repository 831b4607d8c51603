/* made: see made.h. */
#include "monitor/made.h"

#include "base/clock.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS 10000000

void st_made_expect(struct st_made *m, struct st_summary *s, struct st_resolved *r)
{
    if (r->parent < 0 || !r->path_len)
        return;
    if (m->n == ST_MADE)
        st_made_find(m, s);
    if (m->n == 0)
        m->since_ns = st_now_mono_ns();
    m->list[m->n++] = (struct st_made_file){.parent = st_steal_fd(&r->parent),
                                            .name = st_xstrdup(r->name),
                                            .path = st_xstrndup(r->path, r->path_len),
                                            .path_len = r->path_len};
}

void st_made_find(struct st_made *m, struct st_summary *s)
{
    for (size_t i = 0; i < m->n; i++) {
        struct st_made_file *f = &m->list[i];
        struct stat sb;

        if (fstatat(f->parent, f->name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(sb.st_mode))
            st_summary_identify(s, &(struct st_ev_filesystem){.path = {.p = f->path, .len = f->path_len},
                                                              .dev = sb.st_dev,
                                                              .ino = sb.st_ino});
        close(f->parent);
        free(f->name);
        free(f->path);
    }
    m->n = 0;
}

int64_t st_made_deadline(const struct st_made *m)
{
    return m->n ? m->since_ns + PATIENCE_NS : -1;
}
