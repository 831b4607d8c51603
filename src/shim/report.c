/* report: see report.h. The file is opened as runc opens it. */
#include "shim/report.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json_write.h"

#include <fcntl.h>
#include <string.h>

#define NAME "sandtrace-runtime"

/* As logrus writes it: for json an object a line, for text time="…" level=… msg="…". */
static void log_line(struct st_buf *out, bool json, const char *level, const char *message)
{
    char now[ST_RFC3339_SIZE];

    st_format_rfc3339(st_now_wall_us(), now);
    if (json) {
        st_buf_addf(out, "{\"level\":\"%s\",\"msg\":", level);
        st_json_quote(out, message, strlen(message));
        st_buf_addf(out, ",\"time\":\"%s\"}\n", now);
        return;
    }
    st_buf_addf(out, "time=\"%s\" level=%s msg=", now, level);
    st_json_quote(out, message, strlen(message));
    st_buf_addc(out, '\n');
}

static void write_log(const struct st_oci_args *args, const char *level, const char *message)
{
    bool json = args->log_format && strcmp(args->log_format, "json") == 0;
    st_auto_buf line = ST_BUF_INIT;
    st_auto_fd fd = -1;

    if (!args->log || !*args->log)
        return;
    fd = open(args->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0)
        return;
    log_line(&line, json, level, message);
    (void)st_write_all(fd, line.data, line.len);
}

void st_shim_report(const struct st_oci_args *args, const struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT;

    st_buf_addf(&line, NAME ": %s", err->msg);
    write_log(args, "error", st_buf_cstr(&line));
    st_buf_addc(&line, '\n');
    (void)st_write_all(STDERR_FILENO, line.data, line.len);
}

void st_shim_warn(const struct st_oci_args *args, const struct st_error *err)
{
    st_auto_buf line = ST_BUF_INIT;

    st_buf_addf(&line, NAME ": %s", err->msg);
    write_log(args, "warning", st_buf_cstr(&line));
}
