/* flow_book: the flows that are known, each once, with what its keeper knows of it. Bounded; a flow for which
 * there is no room is not put in, and nothing goes to make room for it. An empty book costs next to nothing.
 */
#pragma once

#include "base/table.h"
#include "model/event.h"
#include "sensors/net/flow_tuple.h"

#include <sys/types.h>

/* The book owns it; its keeper fills in all but the first three. */
struct st_flow_entry {
    struct st_table_link link; /* the book's own */
    struct st_flow_tuple tuple;
    int64_t since_ms;
    uint64_t sent; /* payload bytes counted */
    void *user;
    char *host; /* by st_flow_set_host(); NULL: none */
    char *exe;  /* by st_flow_set_exe(); NULL: not known */
    uint32_t rule;
    enum st_host_source host_source;
    pid_t pid; /* 0: not known */
    char comm[16];
    uint8_t stage;
    bool ingress; /* it was begun outside */
};

struct st_flow_book;

struct st_flow_book *st_flow_book_new(size_t max_flows);
void st_flow_book_free(struct st_flow_book *book);
size_t st_flow_book_count(const struct st_flow_book *book);

struct st_flow_entry *st_flow_book_find(const struct st_flow_book *book, const struct st_flow_tuple *tuple);

/* The entry of this flow, new where there was none (all but the first three fields 0). NULL: the book is
 * full. */
struct st_flow_entry *st_flow_book_add(struct st_flow_book *book, const struct st_flow_tuple *tuple,
                                       int64_t now_ms);
void st_flow_book_remove(struct st_flow_book *book, struct st_flow_entry *entry);

/* One after the other, in the order in which they were added: for (e = first(book); e; e = next(e)). Who
 * removes one asks for the next one before. */
struct st_flow_entry *st_flow_book_first(const struct st_flow_book *book);
struct st_flow_entry *st_flow_book_next(const struct st_flow_entry *entry);

/* Copies; NULL text takes away what was there. */
void st_flow_set_host(struct st_flow_entry *entry, struct st_str host, enum st_host_source source);
void st_flow_set_exe(struct st_flow_entry *entry, struct st_str exe);
