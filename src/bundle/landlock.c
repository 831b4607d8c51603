/* landlock: see landlock.h. */
#include "bundle/landlock.h"

#include "oci/landlock_words.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int st_bundle_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return abi < 0 ? 0 : (int)abi;
}

int st_bundle_landlock_check(const char *policy, struct st_error *err)
{
    int abi = st_bundle_landlock_abi();

    if (abi >= ST_LANDLOCK_ABI)
        return 0;
    if (abi == 0)
        return st_fail(err, EOPNOTSUPP,
                       "policy '%s': `floor: landlock`, but Landlock is not in this kernel, or not enabled "
                       "(`lsm=` of its command line); write `floor: mount`",
                       policy);
    return st_fail(err, EOPNOTSUPP,
                   "policy '%s': `floor: landlock`, but Landlock of this kernel (ABI %d) does not keep files "
                   "from being truncated: that needs ABI %d (Linux 6.2); write `floor: mount`",
                   policy, abi, ST_LANDLOCK_ABI);
}
