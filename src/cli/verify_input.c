/* verify_input: see verify_input.h. */
#include "cli/verify_input.h"

int st_verify_input(struct st_verifier *v, struct st_input *in, const char *name, struct st_error *err)
{
    struct st_progress progress;
    struct st_line lines[ST_VERIFY_LINES];
    unsigned files = 1;
    int rc;

    st_progress_begin(&progress, name);
    while ((rc = st_input_lines(in, lines, ST_VERIFY_LINES, err)) > 0) {
        for (; files < st_input_files(in); files++)
            st_verifier_next_file(v);
        st_verifier_lines(v, lines, rc);
        st_input_show_progress(in, &progress, st_verifier_report(v)->records);
    }
    for (; rc == 0 && files < st_input_files(in); files++) /* an empty file at the end */
        st_verifier_next_file(v);
    st_progress_end(&progress);
    return rc;
}
