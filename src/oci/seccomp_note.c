/* seccomp_note: see seccomp_note.h. */
#include "oci/seccomp_note.h"

void st_seccomp_note_refused(struct st_jw *w, const struct st_seccomp_subjects *all)
{
    st_jw_key(w, "refused");
    st_jw_array(w);
    for (size_t i = 0; i < all->n; i++) {
        const struct st_seccomp_subject *s = &all->list[i];

        if (!s->forced && !s->none_of)
            continue;
        st_jw_object(w);
        st_jw_kint(w, "errno", s->forced ? s->forced : all->fallback_error);
        if (!s->forced)
            st_jw_kint(w, "flags", (int64_t)s->none_of);
        st_jw_kstr(w, "name", s->name);
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

void st_seccomp_note_sockets(struct st_jw *w, const struct st_seccomp_subjects *all)
{
    const struct st_seccomp_subject *s = st_seccomp_find(all, "socket");

    st_jw_key(w, "sockets");
    st_jw_array(w);
    if (s && s->treatment == ST_SECCOMP_ASK_FAMILY && s->fate == ST_SECCOMP_BY_ARGUMENTS &&
        st_seccomp_is_taken(s)) {
        st_jw_object(w);
        st_jw_kint(w, "errno", s->but.error);
        st_jw_kint(w, "family", s->but.family);
        st_jw_kint(w, "protocol", s->but.protocol);
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

void st_seccomp_note_left(struct st_jw *w, const struct st_seccomp_subjects *all)
{
    st_jw_key(w, "unwatched");
    st_jw_array(w);
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].left)
            st_jw_str(w, all->list[i].name);
    st_jw_end(w, ']');
}
