/* verbs: the table. A new verb is one line here and one file beside it. */
#include "cli/verbs.h"

const struct st_verb *const *st_verbs(void)
{
    static const struct st_verb *const verbs[] = {
        /* clang-format off */
        &st_verb_run,
        &st_verb_demo,
        &st_verb_policy,
        &st_verb_ps,
        &st_verb_watch,
        &st_verb_pending,
        &st_verb_approve,
        &st_verb_deny,
        &st_verb_pause,
        &st_verb_resume,
        &st_verb_kill,
        &st_verb_reload,
        &st_verb_stream,
        &st_verb_report,
        &st_verb_verify,
        &st_verb_index,
        &st_verb_review,
        &st_verb_serve,
        &st_verb_doctor,
        &st_verb_install,
        &st_verb_keygen,
        &st_verb_completion,
        &st_verb_version,
        NULL,
        /* clang-format on */
    };

    return verbs;
}
