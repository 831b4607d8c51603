/* folder: which traces of a folder have something new, by inotify. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct st_trace_names {
    char **list; /* files of traces (ID.jsonl), each once */
    size_t n;
    bool all; /* too much happened to tell: look at every one */
};

void st_trace_names_free(struct st_trace_names *names);

/* The fd to wait on. */
int st_folder_watch(const char *folder, struct st_error *err);

/* An fd that is readable where something of the file's folder was removed, or took another's place. */
int st_folder_watch_gone(const char *file, struct st_error *err);

/* What has happened since; the fd is readable. Fills names, which are empty. */
int st_folder_changes(int fd, struct st_trace_names *names, struct st_error *err);

/* ID.jsonl of ID.jsonl, ID.jsonl.3 and ID.jsonl.3.gz: its length; 0: no file of a trace. */
size_t st_trace_name_len(const char *file);
