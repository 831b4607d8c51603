/* run_answer: what a line at the question means. Pure; see run_pause.h. */
#include "cli/run_pause.h"

#include <string.h>

enum st_run_answer st_run_read_answer(const char *line, size_t len)
{
    static const struct {
        const char *word;
        enum st_run_answer answer;
    } words[] = {{"o", ST_ANSWER_ONCE},        {"once", ST_ANSWER_ONCE}, {"a", ST_ANSWER_ALWAYS},
                 {"always", ST_ANSWER_ALWAYS}, {"d", ST_ANSWER_DENY},    {"deny", ST_ANSWER_DENY},
                 {"k", ST_ANSWER_KILL},        {"kill", ST_ANSWER_KILL}};

    while (len && (*line == ' ' || *line == '\t')) {
        line++;
        len--;
    }
    while (len && strchr(" \t\r\n", line[len - 1]))
        len--;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == len && memcmp(words[i].word, line, len) == 0)
            return words[i].answer;
    return ST_ANSWER_NONE;
}
