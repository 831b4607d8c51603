/* seccomp_forks: processes and threads told apart in a profile that permits clone(2) under a condition. */
#include "oci/seccomp_rules.h"

#include <sched.h>
#include <string.h>

/* libseccomp takes one condition an argument: ours has to become a part of the profile's. As engines write
 * it: "none of these flags". */
static bool read_masked(const struct st_json_node *args, uint64_t *mask, uint64_t *value)
{
    const struct st_json_node *one = st_json_first(args), *second = st_json_get(one, "valueTwo");
    const char *op = st_json_str(st_json_get(one, "op"), NULL);
    int64_t index, bits, wanted = 0;

    if (st_json_count(args) != 1 || !op || strcmp(op, "SCMP_CMP_MASKED_EQ") != 0 ||
        !st_json_int(st_json_get(one, "index"), &index) || index != 0 ||
        !st_json_int(st_json_get(one, "value"), &bits) || bits < 0 ||
        (second && (!st_json_int(second, &wanted) || wanted < 0)))
        return false;
    *mask = (uint64_t)bits;
    *value = (uint64_t)wanted;
    return true;
}

void st_seccomp_part_forks(const struct st_json_node *args, const char *text, struct st_buf *forks,
                           struct st_buf *threads)
{
    uint64_t mask, value;

    if (!read_masked(args, &mask, &value) || (mask & CLONE_THREAD)) {
        st_buf_adds(forks, text);
        return;
    }
    st_seccomp_write_masked(forks, 0, mask | CLONE_THREAD, value);
    st_seccomp_write_masked(threads, 0, mask | CLONE_THREAD, value | CLONE_THREAD);
}
