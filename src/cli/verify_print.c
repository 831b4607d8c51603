/* verify_print: see verify_print.h. */
#include "cli/verify_print.h"

#include "base/json_write.h"
#include "base/mem.h"
#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>

static void keep(struct st_compliance *c, uint64_t seq, enum st_result result, struct st_buf *text,
                 struct st_buf *why)
{
    if (c->n < ST_VIOLATIONS_KEPT)
        c->kept[c->n] = (struct st_violation){.seq = seq,
                                              .result = result,
                                              .text = st_xstrdup(st_buf_cstr(text)),
                                              .why = st_xstrdup(st_buf_cstr(why))};
    c->n++;
}

void st_compliance_add(struct st_compliance *c, const struct st_decoded *d, const struct st_verdict *v)
{
    st_auto_buf text = ST_BUF_INIT, why = ST_BUF_INIT;

    if (c->n < ST_VIOLATIONS_KEPT) {
        st_buf_addf(&text, "%.*s ", (int)d->type_name.len, d->type_name.p);
        st_show_subject(&text, d);
        st_buf_adds(&why, v->rule.p ? "rule " : "by default");
        st_show_text(&why, v->rule);
        if (v->reason.p && v->reason.len) {
            st_buf_adds(&why, ": ");
            st_show_text(&why, v->reason);
        }
    }
    keep(c, d->seq, v->result, &text, &why);
}

void st_compliance_unreadable(struct st_compliance *c, uint64_t seq, const char *reason)
{
    st_auto_buf text = ST_BUF_INIT, why = ST_BUF_INIT;

    st_buf_adds(&text, "a record that can't be judged");
    st_show_text(&why, st_str(reason));
    keep(c, seq, ST_ANOMALY, &text, &why);
    c->unreadable++;
}

void st_compliance_free(struct st_compliance *c)
{
    for (size_t i = 0; i < c->n && i < ST_VIOLATIONS_KEPT; i++) {
        free(c->kept[i].text);
        free(c->kept[i].why);
    }
    c->n = 0;
}

static const char *file_of(const struct st_input *in, const struct st_issue *issue)
{
    return st_input_name(in, issue->file < st_input_files(in) ? issue->file : st_input_files(in) - 1);
}

static void print_json(const struct st_input *in, const struct st_verify_report *r,
                       const struct st_compliance *c, bool writing)
{
    st_auto_buf out = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kint(&w, "bytes", (int64_t)r->bytes);
    st_jw_kint(&w, "checkpoints", (int64_t)r->checkpoints);
    st_jw_kbool(&w, "compliant", !c->policy || c->n == 0);
    st_jw_kstr(&w, "dialect", r->dialect == ST_DIALECT_CURRENT ? "1.0" : "older");
    st_jw_kstr(&w, "file", st_input_name(in, st_input_files(in) - 1));
    st_jw_kint(&w, "files", st_input_files(in));
    st_jw_kbool(&w, "final", r->final);
    st_jw_kstr(&w, "head", r->head);
    if (c->head_missing)
        st_jw_kbool(&w, "head_missing", true);
    st_jw_key(&w, "issues");
    st_jw_array(&w);
    for (size_t i = 0; i < r->n_issues && i < ST_ISSUES_KEPT; i++) {
        st_jw_object(&w);
        st_jw_kstr(&w, "code", st_issue_name(r->issues[i].code));
        st_jw_kstr(&w, "file", file_of(in, &r->issues[i]));
        st_jw_kint(&w, "line", (int64_t)r->issues[i].line);
        st_jw_kint(&w, "offset", (int64_t)r->issues[i].offset);
        st_jw_kint(&w, "seq", (int64_t)r->issues[i].seq);
        st_jw_kstr(&w, "what", r->issues[i].what);
        st_jw_end(&w, '}');
    }
    st_jw_end(&w, ']');
    st_jw_kint(&w, "issues_total", (int64_t)r->n_issues);
    st_jw_kstr(&w, "policy", c->policy);
    st_jw_kint(&w, "records", (int64_t)r->records);
    if (c->policy)
        st_jw_kint(&w, "refused", (int64_t)c->refused);
    st_jw_kint(&w, "seq", (int64_t)r->seq);
    st_jw_kint(&w, "signed_seq", (int64_t)r->signed_seq);
    st_jw_kint(&w, "torn", (int64_t)r->torn);
    st_jw_kint(&w, "torn_bytes", (int64_t)r->torn_bytes);
    st_jw_kint(&w, "unsigned_checkpoints", (int64_t)r->unsigned_checkpoints);
    st_jw_kbool(&w, "valid", r->n_issues == 0 && !c->head_missing);
    if (c->policy) {
        st_jw_key(&w, "violations");
        st_jw_array(&w);
        for (size_t i = 0; i < c->n && i < ST_VIOLATIONS_KEPT; i++) {
            st_jw_object(&w);
            st_jw_kstr(&w, "result", st_result_name(c->kept[i].result));
            st_jw_kint(&w, "seq", (int64_t)c->kept[i].seq);
            st_jw_kstr(&w, "what", c->kept[i].text);
            st_jw_kstr(&w, "why", c->kept[i].why);
            st_jw_end(&w, '}');
        }
        st_jw_end(&w, ']');
        st_jw_kint(&w, "violations_total", (int64_t)c->n);
    }
    st_jw_kbool(&w, "writing", writing);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static void print_signatures(const struct st_verify_report *r, size_t keys)
{
    if (r->dialect == ST_DIALECT_OLDER) {
        puts("  older dialect: no signatures, and verdicts are outside its hash");
        return;
    }
    if (r->signed_seq)
        printf("  signed: all up to seq %llu (%llu checkpoints)\n", (unsigned long long)r->signed_seq,
               (unsigned long long)r->checkpoints);
    else if (!(r->checkpoints && r->n_issues))
        printf("  %s\n", r->unsigned_checkpoints ? "not signed: only hashes protect it"
                         : keys                  ? "no signature stands"
                                : "no public key is known here (--key): no signature was checked");
    if (r->checkpoints && r->n_issues)
        puts("  from the first issue on no signature vouches for it");
    else if (r->signed_seq && r->signed_seq < r->seq)
        printf("  behind the last signature: %llu records, which only their hashes protect\n",
               (unsigned long long)(r->seq - r->signed_seq));
}

static void print_issues(const struct st_input *in, const struct st_verify_report *r, bool color)
{
    for (size_t i = 0; i < r->n_issues && i < ST_ISSUES_KEPT; i++) {
        const struct st_issue *issue = &r->issues[i];

        printf("  %s%-15s%s seq %llu, line %llu, offset %llu", color ? "\033[1;31m" : "",
               st_issue_name(issue->code), color ? "\033[0m" : "", (unsigned long long)issue->seq,
               (unsigned long long)issue->line, (unsigned long long)issue->offset);
        if (st_input_files(in) > 1)
            printf(" of %s", file_of(in, issue));
        printf(": %s\n", issue->what);
    }
    if (r->n_issues > ST_ISSUES_KEPT)
        printf("  … and %llu more\n", (unsigned long long)(r->n_issues - ST_ISSUES_KEPT));
}

static void print_compliance(const struct st_compliance *c, bool color)
{
    if (!c->policy)
        return;
    if (c->n == 0)
        printf("  %skeeps to%s policy %s: %llu events judged, %llu of them refused at the time\n",
               color ? "\033[32m" : "", color ? "\033[0m" : "", c->policy, (unsigned long long)c->events,
               (unsigned long long)c->refused);
    else
        printf("  %sviolates%s policy %s: %llu of %llu events, besides %llu that were refused at the time\n",
               color ? "\033[1;31m" : "", color ? "\033[0m" : "", c->policy, (unsigned long long)c->n,
               (unsigned long long)(c->events + c->unreadable), (unsigned long long)c->refused);
    for (size_t i = 0; i < c->n && i < ST_VIOLATIONS_KEPT; i++)
        printf("  %-8s seq %llu: %s (%s)\n", st_result_name(c->kept[i].result),
               (unsigned long long)c->kept[i].seq, c->kept[i].text, c->kept[i].why);
    if (c->n > ST_VIOLATIONS_KEPT)
        printf("  … and %llu more\n", (unsigned long long)(c->n - ST_VIOLATIONS_KEPT));
}

static void print_text(const struct st_cli *cli, const struct st_input *in, const struct st_verify_report *r,
                       const struct st_compliance *c, bool writing, size_t keys)
{
    bool valid = r->n_issues == 0 && !c->head_missing;

    printf("%s: %s%s%s: %llu records, seq %llu%s\n", st_input_name(in, st_input_files(in) - 1),
           !cli->color ? ""
           : valid     ? "\033[1;32m"
                       : "\033[1;31m",
           valid ? "valid" : "CHAIN BROKEN", cli->color ? "\033[0m" : "", (unsigned long long)r->records,
           (unsigned long long)r->seq,
           writing    ? ", being written"
           : r->final ? ", closed"
                      : "");
    print_issues(in, r, cli->color);
    if (c->head_missing)
        puts("  truncated       the record with the hash given by --head is not in it");
    if (r->records)
        print_signatures(r, keys);
    if (r->torn)
        printf("  gone on after %llu crashes: %llu bytes torn, each declared by the writer\n",
               (unsigned long long)r->torn, (unsigned long long)r->torn_bytes);
    print_compliance(c, cli->color);
}

int st_verify_print(const struct st_cli *cli, const struct st_input *in, const struct st_verify_report *r,
                    const struct st_compliance *c, bool writing, size_t keys)
{
    if (cli->json)
        print_json(in, r, c, writing);
    else
        print_text(cli, in, r, c, writing, keys);
    return r->n_issues || c->head_missing || c->n ? ST_EXIT_FAILED : ST_EXIT_OK;
}
