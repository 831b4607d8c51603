/* suggest: see suggest.h. The distance counts insertions, deletions, replacements and swaps of
 * neighbours, upper and lower case alike. Words longer than MAX_WORD are not compared: what was
 * written may be hostile. */
#include "base/suggest.h"

#include <stdbool.h>
#include <string.h>

#define MAX_WORD 48

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned rows[3][MAX_WORD + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= nb; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *reuse = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);

            row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        before = last;
        last = row;
        row = reuse;
    }
    return last[nb];
}

void st_suggest_offer(struct st_suggestion *best, const char *written, const char *candidate)
{
    size_t nw = strnlen(written, MAX_WORD + 1), nc = strnlen(candidate, MAX_WORD + 1);
    unsigned far, d;

    if (nw == 0 || nw > MAX_WORD || nc > MAX_WORD)
        return;
    d = distance(written, nw, candidate, nc);
    /* A third of the word wrong, and at most three letters: beyond that a guess confuses. */
    far = (unsigned)(nc < 9 ? (nc + 2) / 3 : 3);
    if (d <= far && d < nc && (!best->word || d < best->distance))
        *best = (struct st_suggestion){.word = candidate, .distance = d};
}

const char *st_suggest(const char *written, const char *const *words, size_t n)
{
    struct st_suggestion best = {0};

    for (size_t i = 0; i < n; i++)
        st_suggest_offer(&best, written, words[i]);
    return best.word;
}
