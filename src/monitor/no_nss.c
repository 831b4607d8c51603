/* no_nss: the monitor never asks who a user is.
 *
 * libcap-ng can (capng_change_id with CAPNG_INIT_SUPP_GRP), and so a static link would draw in the
 * C library's name service, which loads shared objects at run time: the linker warns of it, and 140 KB
 * of code that opens files by environment would lie in the most privileged process. These stand in the
 * place of the C library's and refuse. Must be linked as an object of the program, not by an archive.
 * (ld's --no-warnings is no way out: it also lets undefined symbols pass.) */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>

struct passwd *getpwuid(uid_t uid)
{
    (void)uid;
    errno = ENOSYS;
    return NULL;
}

int initgroups(const char *user, gid_t group)
{
    (void)user;
    (void)group;
    errno = ENOSYS;
    return -1;
}
