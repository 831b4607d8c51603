/* flow_book: see flow_book.h. */
#include "sensors/net/flow_book.h"

#include "base/mem.h"

#include <stdlib.h>

struct st_flow_book {
    struct st_hash_key key;
    struct st_table flows;
    size_t max_flows;
};

struct st_flow_book *st_flow_book_new(size_t max_flows)
{
    struct st_flow_book *book = st_xcalloc(1, sizeof(*book));

    book->key = st_hash_key_random();
    book->max_flows = max_flows;
    return book;
}

void st_flow_book_free(struct st_flow_book *book)
{
    if (!book)
        return;
    for (struct st_flow_entry *entry; (entry = st_flow_book_first(book));)
        st_flow_book_remove(book, entry);
    free(book);
}

size_t st_flow_book_count(const struct st_flow_book *book)
{
    return book->flows.n;
}

static struct st_flow_entry *entry_of(struct st_table_link *link)
{
    return link ? st_table_entry(link, struct st_flow_entry, link) : NULL;
}

static struct st_flow_entry *find(const struct st_flow_book *book, const struct st_flow_tuple *tuple,
                                  uint64_t hash)
{
    struct st_table_link *link = st_table_find(&book->flows, hash);

    while (link && !st_flow_tuple_equal(&entry_of(link)->tuple, tuple))
        link = st_table_find_next(link);
    return entry_of(link);
}

struct st_flow_entry *st_flow_book_find(const struct st_flow_book *book, const struct st_flow_tuple *tuple)
{
    return find(book, tuple, st_flow_tuple_hash(&book->key, tuple));
}

struct st_flow_entry *st_flow_book_add(struct st_flow_book *book, const struct st_flow_tuple *tuple,
                                       int64_t now_ms)
{
    uint64_t hash = st_flow_tuple_hash(&book->key, tuple);
    struct st_flow_entry *entry = find(book, tuple, hash);

    if (entry || book->flows.n >= book->max_flows)
        return entry;
    entry = st_xcalloc(1, sizeof(*entry));
    entry->tuple = *tuple;
    entry->since_ms = now_ms;
    st_table_add(&book->flows, &entry->link, hash);
    return entry;
}

void st_flow_book_remove(struct st_flow_book *book, struct st_flow_entry *entry)
{
    st_table_remove(&book->flows, &entry->link);
    free(entry->host);
    free(entry->exe);
    free(entry);
}

struct st_flow_entry *st_flow_book_first(const struct st_flow_book *book)
{
    return entry_of(book->flows.oldest);
}

struct st_flow_entry *st_flow_book_next(const struct st_flow_entry *entry)
{
    return entry_of(entry->link.newer);
}

static void set_text(char **at, struct st_str text)
{
    char *copy = text.p ? st_xstrndup(text.p, text.len) : NULL; /* before, as text may be the old one */

    free(*at);
    *at = copy;
}

void st_flow_set_host(struct st_flow_entry *entry, struct st_str host, enum st_host_source source)
{
    set_text(&entry->host, host);
    entry->host_source = source;
}

void st_flow_set_exe(struct st_flow_entry *entry, struct st_str exe)
{
    set_text(&entry->exe, exe);
}
