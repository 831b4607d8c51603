/* schema: see schema.h. docs/review-desk.md tells what the columns mean. A step that was released is never
 * changed: a later one is added. */
#include "desk/schema.h"

#include <errno.h>

/* sandbox_audit_event begins with the columns that others know it by. Counts of the whole are kept beside the
 * events, since a page that adds up a million of them would come too late; deleting keeps them true by
 * triggers, adding does it for a batch at a time (counts.c, words.c). */
static const char *const steps[ST_SCHEMA_VERSION] = {
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "INSERT INTO setting VALUES('text_key', randomblob(16));"
    "CREATE TABLE sandbox_audit_event("
    " id INTEGER PRIMARY KEY,"
    " analysis_id TEXT NOT NULL,"
    " ts INTEGER NOT NULL,"
    " kind TEXT NOT NULL,"
    " path_or_addr TEXT,"
    " severity TEXT NOT NULL,"
    " allowed INTEGER NOT NULL,"
    " blocked INTEGER NOT NULL,"
    " raw_detail TEXT NOT NULL,"
    " trace INTEGER NOT NULL,"
    " seq INTEGER NOT NULL,"
    " chain TEXT NOT NULL,"
    " event_id TEXT NOT NULL,"
    " result TEXT NOT NULL,"
    " action TEXT NOT NULL,"
    " rule TEXT,"
    " reason TEXT,"
    " subject INTEGER,"
    " command INTEGER);"
    "CREATE INDEX event_by_time ON sandbox_audit_event(ts);"
    "CREATE INDEX event_by_analysis ON sandbox_audit_event(analysis_id, ts);"
    "CREATE INDEX event_by_kind ON sandbox_audit_event(kind, ts) WHERE kind <> 'filesystem';"
    "CREATE INDEX event_by_severity ON sandbox_audit_event(severity, ts) WHERE severity <> 'none';"
    "CREATE INDEX event_not_allowed ON sandbox_audit_event(ts) WHERE allowed = 0;"
    "CREATE INDEX event_by_subject ON sandbox_audit_event(subject);"
    "CREATE INDEX event_by_command ON sandbox_audit_event(command);"
    "CREATE TABLE trace("
    " no INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, container TEXT NOT NULL,"
    " state TEXT NOT NULL, chain TEXT NOT NULL, note TEXT, updated INTEGER NOT NULL,"
    " file INTEGER NOT NULL, offset INTEGER NOT NULL, line INTEGER NOT NULL, last_len INTEGER NOT NULL,"
    " last_sha256 TEXT NOT NULL,"
    " dialect INTEGER NOT NULL, seq INTEGER NOT NULL, head TEXT NOT NULL, unread INTEGER NOT NULL,"
    " records INTEGER NOT NULL, lines INTEGER NOT NULL, bytes INTEGER NOT NULL, final INTEGER NOT NULL,"
    " checkpoints INTEGER NOT NULL, signed_seq INTEGER NOT NULL, unsigned_checkpoints INTEGER NOT NULL,"
    " torn INTEGER NOT NULL, torn_bytes INTEGER NOT NULL, issues INTEGER NOT NULL,"
    " files INTEGER NOT NULL, bytes_before INTEGER NOT NULL,"
    " doubt INTEGER NOT NULL, doubt_seq INTEGER NOT NULL, doubt_head TEXT NOT NULL,"
    " doubt_records INTEGER NOT NULL, doubt_checkpoints INTEGER NOT NULL, doubt_issues INTEGER NOT NULL,"
    " doubt_signed_seq INTEGER NOT NULL, doubt_offset INTEGER NOT NULL, doubt_id INTEGER NOT NULL);"
    "CREATE TABLE trace_issue("
    " trace INTEGER NOT NULL, n INTEGER NOT NULL, code TEXT NOT NULL, seq INTEGER NOT NULL, file INTEGER NOT "
    "NULL,"
    " line INTEGER NOT NULL, offset INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY(trace, n)) WITHOUT "
    "ROWID;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, body TEXT NOT NULL);"
    "CREATE INDEX text_by_hash ON text(hash);"
    "CREATE TABLE text_use(text INTEGER PRIMARY KEY, uses INTEGER NOT NULL, blocked INTEGER NOT NULL);"
    "CREATE VIRTUAL TABLE text_search USING fts5(body, content='', tokenize='unicode61 remove_diacritics 0');"
    "CREATE TABLE tally("
    " analysis_id TEXT NOT NULL, kind TEXT NOT NULL, severity TEXT NOT NULL, result TEXT NOT NULL,"
    " action TEXT NOT NULL, blocked INTEGER NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY(analysis_id, kind, severity, result, action, blocked)) WITHOUT ROWID;"
    "CREATE TRIGGER event_gone AFTER DELETE ON sandbox_audit_event BEGIN"
    " UPDATE tally SET n = n - 1 WHERE analysis_id = old.analysis_id AND kind = old.kind AND"
    "  severity = old.severity AND result = old.result AND action = old.action AND blocked = old.blocked;"
    " UPDATE text_use SET uses = uses - 1, blocked = blocked - old.blocked WHERE text = old.subject;"
    "END;"
    "CREATE VIEW event_readable AS SELECT e.id, strftime('%Y-%m-%dT%H:%M:%S', e.ts / 1000000, 'unixepoch') ||"
    " printf('.%06dZ', e.ts % 1000000) AS time, t.container, e.analysis_id, e.kind, e.path_or_addr, "
    "e.severity,"
    " e.result, e.action, e.rule, e.reason, e.chain, e.seq"
    " FROM sandbox_audit_event e JOIN trace t ON t.no = e.trace;",

    /* Events that have trace, agent, kind, severity and outcome in common are a class, and of each class they
     * are found by time: whatever is asked for is a few of them, merged. One index in the place of four. */
    "CREATE TABLE class("
    " no INTEGER PRIMARY KEY, trace INTEGER NOT NULL, analysis_id TEXT NOT NULL, kind TEXT NOT NULL,"
    " severity TEXT NOT NULL, result TEXT NOT NULL, action TEXT NOT NULL, blocked INTEGER NOT NULL,"
    " n INTEGER NOT NULL, UNIQUE(trace, analysis_id, kind, severity, result, action, blocked));"
    "INSERT INTO class SELECT NULL, trace, analysis_id, kind, severity, result, action, blocked, count(*)"
    " FROM sandbox_audit_event GROUP BY trace, analysis_id, kind, severity, result, action, blocked;"
    "ALTER TABLE sandbox_audit_event ADD COLUMN class INTEGER NOT NULL DEFAULT 0;"
    "UPDATE sandbox_audit_event AS e SET class = (SELECT no FROM class c WHERE c.trace = e.trace AND"
    " c.analysis_id = e.analysis_id AND c.kind = e.kind AND c.severity = e.severity AND c.result = e.result "
    "AND"
    " c.action = e.action AND c.blocked = e.blocked);"
    "DROP INDEX event_by_analysis; DROP INDEX event_by_kind; DROP INDEX event_by_severity;"
    "DROP INDEX event_not_allowed; DROP INDEX event_by_subject; DROP INDEX event_by_command;"
    "CREATE INDEX event_by_class ON sandbox_audit_event(class, ts);"
    "CREATE INDEX event_by_subject ON sandbox_audit_event(subject, ts);"
    "CREATE INDEX event_by_command ON sandbox_audit_event(command, ts);"
    "DROP TRIGGER event_gone; DROP TABLE tally;"
    "CREATE VIEW tally AS SELECT analysis_id, kind, severity, result, action, blocked, sum(n) AS n"
    " FROM class GROUP BY 1, 2, 3, 4, 5, 6;"
    "CREATE TRIGGER event_gone AFTER DELETE ON sandbox_audit_event BEGIN"
    " UPDATE class SET n = n - 1 WHERE no = old.class;"
    " UPDATE text_use SET uses = uses - 1, blocked = blocked - old.blocked WHERE text = old.subject;"
    "END;",

    /* Where a text stands is a table of its own, that can be written in its order (places.c). */
    "CREATE TABLE text_at("
    " text INTEGER NOT NULL, ts INTEGER NOT NULL, event INTEGER NOT NULL, class INTEGER NOT NULL,"
    " PRIMARY KEY(text, ts, event)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO text_at SELECT subject, ts, id, class FROM sandbox_audit_event WHERE subject IS "
    "NOT NULL"
    " UNION ALL SELECT command, ts, id, class FROM sandbox_audit_event WHERE command IS NOT NULL ORDER BY 1, "
    "2, 3;"
    "DROP INDEX event_by_subject; DROP INDEX event_by_command;"
    "CREATE TRIGGER event_gone_from_text AFTER DELETE ON sandbox_audit_event BEGIN"
    " DELETE FROM text_at WHERE text = old.subject AND ts = old.ts AND event = old.id;"
    " DELETE FROM text_at WHERE text = old.command AND ts = old.ts AND event = old.id;"
    "END;",
};

static int version_of(struct st_db *db, int *out, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(db, "PRAGMA user_version", &s, err);

    if (rc == 0)
        rc = st_db_step(db, s, err);
    *out = rc > 0 ? sqlite3_column_int(s, 0) : 0;
    return rc < 0 ? rc : 0;
}

/* A version alone says nothing: every program counts its own from 0. */
static int check_whose(struct st_db *db, int version, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(db,
                           "SELECT count(*), coalesce(sum(type = 'table' AND name IN"
                           " ('sandbox_audit_event', 'setting', 'trace')), 0) FROM sqlite_master",
                           &s, err);

    if (rc == 0)
        rc = st_db_step(db, s, err);
    if (rc < 0)
        return rc;
    if (version ? sqlite3_column_int(s, 1) == 3 : sqlite3_column_int(s, 0) == 0)
        return 0;
    return st_fail(err, EPROTO, "%s: a database of another program; it is left alone", db->path);
}

static int of_the_future(const struct st_db *db, int version, struct st_error *err)
{
    return st_fail(err, EPROTO, "%s: made by a later sandtrace (schema %d, this one knows %d)", db->path,
                   version, ST_SCHEMA_VERSION);
}

static int take_step(struct st_db *db, int version, struct st_error *err)
{
    char set[64];
    int rc;

    sqlite3_snprintf(sizeof(set), set, "PRAGMA user_version=%d", version + 1);
    rc = st_db_exec(db, steps[version], err);
    if (rc == 0)
        rc = st_db_exec(db, set, err);
    return rc;
}

int st_schema_bring_up(struct st_db *db, struct st_error *err)
{
    int version, rc = st_db_exec(db, "BEGIN IMMEDIATE", err);

    if (rc < 0)
        return rc;
    rc = version_of(db, &version, err);
    if (rc == 0 && version > ST_SCHEMA_VERSION)
        rc = of_the_future(db, version, err);
    for (; rc == 0 && version < ST_SCHEMA_VERSION; version++)
        rc = take_step(db, version, err);
    if (rc == 0)
        return st_db_exec(db, "COMMIT", err);
    st_db_exec(db, "ROLLBACK", NULL);
    return rc;
}

int st_schema_whose(struct st_db *db, struct st_error *err)
{
    int version, rc = version_of(db, &version, err);

    return rc < 0 ? rc : check_whose(db, version, err);
}

int st_schema_check(struct st_db *db, struct st_error *err)
{
    int version, rc = version_of(db, &version, err);

    if (rc == 0)
        rc = check_whose(db, version, err);
    if (rc < 0 || version == ST_SCHEMA_VERSION)
        return rc;
    if (version > ST_SCHEMA_VERSION)
        return of_the_future(db, version, err);
    return st_fail(err, EPROTO, "%s: made by an earlier sandtrace; sandtrace index brings it up", db->path);
}
