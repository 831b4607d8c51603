/* policy_event: an event from words, as `policy test` takes them from its options and from files of cases:
 * one table of words for both. */
#pragma once

#include "base/error.h"
#include "model/event.h"

#include <limits.h>

/* The words: name, value, help, and with which others they go. Those of the first part say what happened:
 * exactly one of them is given. */
#define ST_EVENT_WORD_TABLE(W)                                                                               \
    W(PATH, "path", "PATH", "a file is used", 0)                                                             \
    W(CONNECT, "connect", "HOST[:PORT]", "a connection is made", 0)                                          \
    W(FROM, "from", "ADDRESS[:PORT]", "a connection comes in", 0)                                            \
    W(LOOKUP, "lookup", "NAME", "a name is looked up", 0)                                                    \
    W(EXEC, "exec", "PATH", "a program is run", 0)                                                           \
    W(SYSCALL, "syscall", "NAME", "a syscall is made", 0)                                                    \
    W(ACCESS, "access", "LIST", "--path: read,write,exec,create,delete,attrib (default: read)",              \
      1u << ST_WORD_PATH)                                                                                    \
    W(OP, "op", "OP", "--path: open, create, modify, delete, rename, link, attrib or mount",                 \
      1u << ST_WORD_PATH)                                                                                    \
    W(TARGET, "target", "PATH", "--path: the other end of a rename or link", 1u << ST_WORD_PATH)             \
    W(IP, "ip", "ADDRESS", "--connect: what the host resolved to", 1u << ST_WORD_CONNECT)                    \
    W(PROTOCOL, "protocol", "tcp|udp", "--connect, --from: default tcp",                                     \
      1u << ST_WORD_CONNECT | 1u << ST_WORD_FROM)                                                            \
    W(BYTES, "bytes", "N", "--connect: sent on it", 1u << ST_WORD_CONNECT)                                   \
    W(DEPTH, "depth", "N", "--exec: levels of processes below the first", 1u << ST_WORD_EXEC)                \
    W(CHILDREN, "children", "N", "--exec: of one process", 1u << ST_WORD_EXEC)                               \
    W(PROCESSES, "processes", "N", "--exec: at once", 1u << ST_WORD_EXEC)                                    \
    W(FORKS, "forks", "N", "--exec: processes begun within a second", 1u << ST_WORD_EXEC)                    \
    W(SHA256, "sha256", "HEX", "--exec: of the file", 1u << ST_WORD_EXEC)                                    \
    W(NEW, "new", NULL, "--exec: it was made or changed in this run", 1u << ST_WORD_EXEC)                    \
    W(DELETED, "deleted", NULL, "--exec: it has no name any more", 1u << ST_WORD_EXEC)                       \
    W(MEMFD, "memfd", NULL, "--exec, --syscall: of a program that is in memory only",                        \
      1u << ST_WORD_EXEC | 1u << ST_WORD_SYSCALL)                                                            \
    W(UID, "uid", "N", "who does it", ~0u)                                                                   \
    W(EXE, "exe", "PATH", "the program that does it", ~0u)                                                   \
    W(COMM, "comm", "NAME", "and how it calls itself", ~0u)

#define ST_EVENT_WORD_ENUM(word, name, arg, help, with) ST_WORD_##word,
enum st_event_word { ST_EVENT_WORD_TABLE(ST_EVENT_WORD_ENUM) ST_EVENT_WORDS };

const char *st_event_word_name(enum st_event_word word);

struct st_event_words {
    const char *values[ST_EVENT_WORDS]; /* NULL: not given */
};

/* What the event points to besides the words. */
struct st_event_room {
    char host[512];
};

/* On failure *wrong is the word that is to blame. */
int st_event_from_words(const struct st_event_words *words, struct st_event_room *room, struct st_event *out,
                        enum st_event_word *wrong, struct st_error *err);
