/* process: see process.h. */
#include "shim/process.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "model/caps.h"
#include "oci/spelling.h"
#include "shim/helper.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define PROCESS_MAX ((size_t)4 << 20)

static unsigned grants_of(const struct st_buf *text, struct st_error *odd)
{
    const char *words = st_buf_cstr(text);
    st_auto_json doc = NULL;

    if (st_json_parse(words, text->len, ST_JSON_DEFAULT_LIMITS, &doc, odd) < 0 ||
        st_oci_check_process_spelling(st_json_root(doc), words, odd) < 0)
        return ST_CAPS_ALL;
    return st_caps_of(st_json_root(doc));
}

/* As the runtime reads it: a pipe is as good as a file. */
void st_shim_process_read(const struct st_oci_args *args, struct st_shim_process *out)
{
    st_auto_fd fd = args->process ? open(args->process, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    struct stat sb;

    out->grants = args->grants;
    if (fd < 0)
        return;
    out->once = fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode);
    if (st_read_fd(fd, PROCESS_MAX, &out->text, &out->odd) < 0) {
        st_buf_clear(&out->text);
        out->grants = ST_CAPS_ALL;
    } else {
        out->grants |= grants_of(&out->text, &out->odd);
    }
    if (out->odd.errnum)
        st_wrap(&out->odd, "process %s", args->process);
}

void st_shim_process_free(struct st_shim_process *p)
{
    st_buf_free(&p->text);
}

int st_shim_process_hand(const struct st_oci_args *args, const struct st_buf *text, int min, char **argv,
                         struct st_error *err)
{
    int fd = st_shim_sealed_file("process", text->data, text->len, min, err);
    char place[32];

    if (fd < 0)
        return fd;
    snprintf(place, sizeof(place), "/proc/self/fd/%d", fd);
    st_shim_replace_value(argv, args->process, place);
    return 0;
}
