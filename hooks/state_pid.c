/* state_pid: see state_pid.h. It knows enough of JSON not to take for the pid what is inside of an
 * annotation, and gives up on whatever is unusual: a name with an escape in it, two pids, a fraction, bytes
 * behind it. */
#include "state_pid.h"

#include <limits.h>
#include <stdbool.h>

#define DEPTH_MAX 32

struct text {
    const char *at, *end;
};

static bool more(const struct text *t)
{
    return t->at < t->end;
}

static void skip_space(struct text *t)
{
    while (more(t) && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

/* After space; false: another one stands there. */
static bool take(struct text *t, char c)
{
    skip_space(t);
    if (!more(t) || *t->at != c)
        return false;
    t->at++;
    return true;
}

/* Behind its opening quote. */
static bool skip_string(struct text *t, bool *escapes)
{
    for (; more(t); t->at++) {
        if (*t->at == '"') {
            t->at++;
            return true;
        }
        if (*t->at == '\\') {
            *escapes = true;
            t->at++;
        }
    }
    return false;
}

/* To the comma or bracket that ends it, which stays. */
static bool skip_value(struct text *t)
{
    char closing[DEPTH_MAX];
    unsigned depth = 0;
    bool escapes;

    for (; more(t); t->at++) {
        char c = *t->at;

        if (depth == 0 && (c == ',' || c == '}'))
            return true;
        if (c == '{' || c == '[') {
            if (depth == DEPTH_MAX)
                return false;
            closing[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (depth == 0 || closing[--depth] != c)
                return false;
        } else if (c == '"') {
            t->at++;
            if (!skip_string(t, &escapes))
                return false;
            t->at--;
        }
    }
    return false;
}

static int take_number(struct text *t)
{
    int n = 0;
    unsigned digits = 0;

    skip_space(t);
    for (; more(t) && *t->at >= '0' && *t->at <= '9'; t->at++, digits++) {
        int digit = *t->at - '0';

        if (n > (INT_MAX - digit) / 10)
            return -1;
        n = n * 10 + digit;
    }
    skip_space(t);
    return digits > 0 && n > 1 && more(t) && (*t->at == ',' || *t->at == '}') ? n : -1;
}

static bool take_name(struct text *t, bool *is_pid)
{
    const char *name;
    bool escapes = false;

    if (!take(t, '"'))
        return false;
    name = t->at;
    if (!skip_string(t, &escapes) || escapes)
        return false;
    *is_pid = t->at - name == 4 && name[0] == 'p' && name[1] == 'i' && name[2] == 'd';
    return take(t, ':');
}

int st_state_pid(const char *text, unsigned long len)
{
    struct text t = {text, text + len};
    bool is_pid;
    int pid = -1;

    if (!take(&t, '{'))
        return -1;
    do {
        if (!take_name(&t, &is_pid) || (is_pid && pid >= 0))
            return -1;
        if (is_pid && (pid = take_number(&t)) < 0)
            return -1;
        if (!is_pid && !skip_value(&t))
            return -1;
    } while (take(&t, ','));
    if (!take(&t, '}'))
        return -1;
    skip_space(&t);
    return more(&t) ? -1 : pid;
}
