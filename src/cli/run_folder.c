/* run_folder: see run_folder.h. */
#include "cli/run_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strcmp(dir, "/") == 0 || (strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

int st_run_check_folder(const char *folder, const char *home, struct st_error *err)
{
    static const char *const shared[] = {"/",      "/bin",   "/boot", "/etc", "/home",   "/lib",
                                         "/lib64", "/media", "/mnt",  "/opt", "/root",   "/sbin",
                                         "/srv",   "/tmp",   "/usr",  "/var", "/var/tmp"};
    static const char *const kernels[] = {"/dev", "/proc", "/run", "/sys", "/var/run"};
    static const char instead[] = "cd into a folder of the work alone, or name one: --bind DIR:/workspace";
    bool is_shared = false;

    if (home && strcmp(home, "/") != 0 && is_below(home, folder))
        return st_fail(err, EPERM, "the current folder, %s, %s, and all in it would be the command's; %s",
                       folder, strcmp(home, folder) == 0 ? "is a home" : "holds homes", instead);
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        is_shared |= strcmp(folder, shared[i]) == 0;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        is_shared |= is_below(folder, kernels[i]);
    if (is_shared)
        return st_fail(err, EPERM, "the current folder, %s, belongs to the whole system; %s", folder,
                       instead);
    return 0;
}
