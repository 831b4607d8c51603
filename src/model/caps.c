/* caps: see caps.h. */
#include "model/caps.h"

#include <stddef.h>
#include <strings.h>

#define PREFIX 4 /* of "CAP_" */

static const struct {
    unsigned bit;
    const char *name;
} known[] = {
    {ST_CAP_NET_ADMIN, "CAP_NET_ADMIN"},
    {ST_CAP_NET_RAW, "CAP_NET_RAW"},
    {ST_CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
};

unsigned st_cap_bit(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(name, known[i].name) == 0 || strcasecmp(name, known[i].name + PREFIX) == 0)
            return known[i].bit;
    return strcasecmp(name, "ALL") == 0 ? ST_CAPS_ALL : 0;
}

const char *st_cap_name(unsigned bit)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].bit == bit)
            return known[i].name;
    return NULL;
}

unsigned st_caps_of(const struct st_json_node *process)
{
    unsigned out = 0;

    st_json_each (set, st_json_get(process, "capabilities"))
        st_json_each (item, set)
            if (st_json_str(item, NULL))
                out |= st_cap_bit(st_json_str(item, NULL));
    return out;
}
