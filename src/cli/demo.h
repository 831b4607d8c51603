/* demo: scenarios as tables, and what is said of them. Nothing is acted: each is a container of `sandtrace
 * run`, its agent is a shell that is given one line after the other, and a step counts as shown when the
 * trace has the record that it claims. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"

#include <stdint.h>

/* A record that must be on the trace: its type, what came of it (st_show_outcome), and words of what it is
 * about. type NULL: none is claimed. */
struct st_demo_record {
    const char *type, *outcome, *about;
};

enum st_demo_answer { ST_DEMO_NOT_ASKED, ST_DEMO_DENY, ST_DEMO_ALLOW, ST_DEMO_KILL };

struct st_demo_step {
    const char *does;    /* a sentence: what the agent is about */
    const char *command; /* that it types; shown, and run by bash */
    enum st_demo_answer answer;
    struct st_demo_record record;
    struct st_demo_record decided; /* of the answer */
    const char *says;              /* the command's output has this; NULL: whatever */
    const char *hides;             /* it has not this */
};

/* What is done to a copy of the trace, once it is closed. */
struct st_demo_forgery {
    const char *does;
    const char *from, *to; /* of one record; from NULL: see lines */
    int lines;             /* so many are cut off at the end */
    const char *issue;     /* that `sandtrace verify` must find */
};

struct st_demo_file {
    const char *name; /* below the workspace, or of the home ("~/…") */
    const char *text;
    unsigned mode;
};

struct st_demo_scenario {
    const char *name, *summary;
    const char *policy;               /* YAML behind schema_version, name and extends */
    const char *user;                 /* as whom the agent runs */
    const char *prepare;              /* a line for its shell that is no step; may be NULL */
    const struct st_demo_file *files; /* that are there when it starts; ended by a NULL name */
    size_t big;                       /* bytes of customers.csv, in lines of 32; 0: there is none */
    bool network;                     /* with the server that stands in for an API */
    const struct st_demo_step *steps; /* ended by does NULL */
    const struct st_demo_forgery *forgeries;
    uint64_t let_through; /* of big, at most so much may reach the server */
};

/* NULL-terminated. */
const struct st_demo_scenario *const *st_demo_scenarios(void);

/* ---- telling ---- */

struct st_demo_seen {
    struct st_buf line;   /* the record in words */
    struct st_buf record; /* as it stands in the trace */
    uint64_t seq, number; /* number: of the line, from 1 */
};

struct st_demo_teller {
    const struct st_cli *cli;
    const struct st_demo_scenario *scenario;
    int steps, shown;
    int paused; /* the first is shown whole */
};

void st_demo_tell_begin(const struct st_demo_teller *t);

/* Before it happens, and what waits meanwhile; text is that of the answer which pause is part of. */
void st_demo_tell_step(const struct st_demo_teller *t, const struct st_demo_step *step);
void st_demo_tell_pause(struct st_demo_teller *t, const char *container, const struct st_json_node *pause,
                        const char *text);

/* What came of it; fault NULL: it has shown what it claims. */
void st_demo_tell_result(struct st_demo_teller *t, const struct st_demo_step *step, const struct st_buf *said,
                         const struct st_demo_seen *record, const struct st_demo_seen *decided,
                         const char *fault);

/* `sandtrace verify` of the trace, or of a forgery. */
void st_demo_tell_verify(struct st_demo_teller *t, const struct st_demo_forgery *f, const struct st_buf *said,
                         const char *fault);
void st_demo_tell_server(struct st_demo_teller *t, uint64_t arrived, uint64_t sent, const char *fault);
void st_demo_tell_end(const struct st_demo_teller *t, const char *kept, int64_t ms);
