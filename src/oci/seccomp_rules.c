/* seccomp_rules: see seccomp_rules.h. */
#include "oci/seccomp_rules.h"

#include "base/json_write.h"

#include <string.h>

void st_seccomp_write_masked(struct st_buf *out, unsigned arg, uint64_t mask, uint64_t value)
{
    st_buf_addf(out, "[{\"index\":%u,\"op\":\"SCMP_CMP_MASKED_EQ\",\"value\":%llu,\"valueTwo\":%llu}]", arg,
                (unsigned long long)mask, (unsigned long long)value);
}

void st_seccomp_write_rule(struct st_buf *out, const struct st_seccomp_rule *rule)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "action", rule->action);
    if (rule->args) {
        st_jw_key(&w, "args");
        st_jw_raw(&w, rule->args, strlen(rule->args));
    }
    if (strcmp(rule->action, ST_SECCOMP_ERRNO) == 0)
        st_jw_kint(&w, "errnoRet", rule->error);
    st_jw_key(&w, "names");
    st_jw_array(&w);
    for (size_t i = 0; i < rule->n_names; i++)
        st_jw_str(&w, rule->names[i]);
    st_jw_end(&w, ']');
    st_jw_end(&w, '}');
}
