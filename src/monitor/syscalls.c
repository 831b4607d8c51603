/* syscalls: see syscalls.h. */
#include "monitor/syscalls.h"

#include "base/mem.h"

#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(int nr)
{
    return nr >= 0 && nr < ST_SYSCALL_NUMBERS;
}

void st_syscalls_init(struct st_syscalls *s, const struct st_order *order)
{
    for (size_t i = 0; i < order->n_refused; i++) {
        int nr = seccomp_syscall_resolve_name(order->refused[i].name);

        if (!is_number(nr))
            continue;
        s->refusals[nr].error = order->refused[i].error;
        s->refusals[nr].flags = order->refused[i].flags;
    }
}

int st_syscalls_refusal(const struct st_syscalls *s, int nr, uint64_t first)
{
    if (!is_number(nr) || (s->refusals[nr].flags && !(s->refusals[nr].flags & first)))
        return 0;
    return s->refusals[nr].error;
}

void st_syscalls_count(struct st_syscalls *s, int nr, bool permitted)
{
    if (is_number(nr) && permitted)
        s->counts[nr].permitted++;
    else if (is_number(nr))
        s->counts[nr].refused++;
}

struct used {
    char *name;
    int nr;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct used *)a)->name, ((const struct used *)b)->name);
}

void st_syscalls_write(const struct st_syscalls *s, struct st_jw *w)
{
    struct used *list = st_xcalloc(ST_SYSCALL_NUMBERS, sizeof(*list));
    size_t n = 0;

    for (int nr = 0; nr < ST_SYSCALL_NUMBERS; nr++) {
        if (!s->counts[nr].permitted && !s->counts[nr].refused)
            continue;
        list[n].nr = nr;
        list[n].name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
        if (!list[n].name)
            list[n].name = st_xasprintf("%d", nr);
        n++;
    }
    qsort(list, n, sizeof(*list), by_name);
    st_jw_object(w);
    for (size_t i = 0; i < n; i++) {
        st_jw_key(w, list[i].name);
        st_jw_object(w);
        st_jw_kint(w, "permitted", (int64_t)s->counts[list[i].nr].permitted);
        st_jw_kint(w, "refused", (int64_t)s->counts[list[i].nr].refused);
        st_jw_end(w, '}');
    }
    st_jw_end(w, '}');
    for (size_t i = 0; i < n; i++)
        free(list[i].name);
    free(list);
}
