/* sandtrace-knock: what stands in a bundle in the place of `sandtrace-hook create` where a monitor was
 * started ahead: it tells that the container's pid, and waits for the answer. Nothing else is to be done
 * then, and a C library takes longer to begin (on a virtual machine each question for the processor's
 * features costs) than this to end. So it has none.
 *
 * Whatever is not as it should be (nobody waits, a state that it can't read) is left to sandtrace-hook, which
 * lies beside it and is run in its place, with the same arguments, environment and standard input. */
#include "base/bare.h"
#include "state_pid.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/socket.h>
#include <linux/time.h>
#include <linux/un.h>

#define MSG_NOSIGNAL 0x4000
#define SHUT_WR 1
#define STREAM 1
#define CLOSE_ON_EXEC 02000000
#define STATE_ROOM 65536
#define PATH_ROOM 4096
#define ANSWER_ROOM 4096

static const char full_name[] = "sandtrace-hook";

struct call {
    char **argv, **envp;
    const char *self; /* as it was run */
    char state[STATE_ROOM];
    unsigned long len;
};

/* Compilers call it where they clear a struct. The empty statement keeps them from doing so in here. */
void *memset(void *to, int c, unsigned long n);
void *memset(void *to, int c, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        ((char *)to)[i] = (char)c;
        __asm__ volatile("" : : : "memory");
    }
    return to;
}

static _Noreturn void leave(int code)
{
    for (;;)
        ask(__NR_exit_group, code, 0, 0, 0, 0, 0);
}

static void say(const char *text, unsigned long len)
{
    ask(__NR_write, 2, (long)text, (long)len, 0, 0, 0);
}

static _Noreturn void refuse(const char *words, unsigned long len)
{
    static const char ours[] = "sandtrace: ";

    say(ours, sizeof(ours) - 1);
    say(words, len);
    say("\n", 1);
    leave(1);
}

/* Into out, which has room for a number; its length. */
static unsigned long write_number(char *out, long n)
{
    char digits[20];
    unsigned long len = 0, at = 0;

    do
        digits[len++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    while (len > 0)
        out[at++] = digits[--len];
    return at;
}

static long now_ms(void)
{
    struct timespec t = {0, 0};

    ask(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- leaving it to the other one ---- */

static int write_all(long fd, const char *bytes, unsigned long len)
{
    while (len > 0) {
        long n = ask(__NR_write, fd, (long)bytes, (long)len, 0, 0, 0);

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return 0;
        bytes += n;
        len -= (unsigned long)n;
    }
    return 1;
}

/* What was read of standard input, and what was not yet. */
static int give_state_back(struct call *c)
{
    long fd = ask(__NR_memfd_create, (long)"state", 0, 0, 0, 0, 0), n = (long)c->len;

    while (fd >= 0 && n > 0) {
        if (!write_all(fd, c->state, (unsigned long)n))
            return 0;
        do
            n = ask(__NR_read, 0, (long)c->state, STATE_ROOM, 0, 0, 0);
        while (n == -EINTR);
    }
    return fd >= 0 && n == 0 && ask(__NR_lseek, fd, 0, 0, 0, 0, 0) == 0 &&
           ask(__NR_dup3, fd, 0, 0, 0, 0, 0) == 0 && ask(__NR_close, fd, 0, 0, 0, 0, 0) == 0;
}

static _Noreturn void leave_it(struct call *c)
{
    static const char words[] = "sandtrace-hook, which belongs beside sandtrace-knock, can not be run";
    char path[PATH_ROOM];
    unsigned long len = length(c->self), at = 0;

    while (len > 0 && c->self[len - 1] != '/')
        len--;
    if (len + sizeof(full_name) <= sizeof(path) && give_state_back(c)) {
        for (; at < len; at++)
            path[at] = c->self[at];
        for (unsigned long i = 0; i < sizeof(full_name); i++)
            path[at++] = full_name[i];
        ask(__NR_execve, (long)path, (long)c->argv, (long)c->envp, 0, 0, 0);
    }
    refuse(words, sizeof(words) - 1);
}

/* ---- knocking ---- */

static const char *option(const struct call *c, const char *name)
{
    for (char **word = c->argv; word[0] && word[1]; word++)
        if (same(*word, name))
            return word[1];
    return 0;
}

static int read_state(struct call *c)
{
    for (;;) {
        long n = ask(__NR_read, 0, (long)c->state + (long)c->len, (long)(STATE_ROOM - c->len), 0, 0, 0);

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n == 0 && c->len < STATE_ROOM;
        c->len += (unsigned long)n;
    }
}

/* At the socket that is named after our parent, which is the runtime. */
static long find(const char *dir)
{
    struct sockaddr_un to = {.sun_family = 1 /* AF_UNIX */};
    unsigned long len = length(dir);
    long fd;

    if (len + 22 > sizeof(to.sun_path))
        return -1;
    for (unsigned long i = 0; i < len; i++)
        to.sun_path[i] = dir[i];
    to.sun_path[len++] = '/';
    write_number(to.sun_path + len, ask(__NR_getppid, 0, 0, 0, 0, 0, 0));
    fd = ask(__NR_socket, 1, STREAM | CLOSE_ON_EXEC, 0, 0, 0, 0);
    if (fd >= 0 && ask(__NR_connect, fd, (long)&to, sizeof(to), 0, 0, 0) == 0)
        return fd;
    if (fd >= 0)
        ask(__NR_close, fd, 0, 0, 0, 0, 0);
    return -1;
}

static int is_ok(const char *answer, unsigned long len)
{
    return len == 3 && answer[0] == 'o' && answer[1] == 'k' && answer[2] == '\n';
}

static int waits_for(long fd, long deadline)
{
    struct pollfd p = {.fd = (int)fd, .events = POLLIN};
    long left, n;

    do {
        left = deadline - now_ms();
        struct timespec t = {left / 1000, left % 1000 * 1000000};

        n = left <= 0 ? 0 : ask(__NR_ppoll, (long)&p, 1, (long)&t, 0, 0, 0);
    } while (n == -EINTR);
    return n > 0;
}

/* 0: it died without a word. */
static unsigned long hear(long fd, long deadline, char answer[ANSWER_ROOM])
{
    static const char late[] = "the monitor was not ready in time (hook_timeout)";
    unsigned long len = 0;

    answer[0] = answer[1] = answer[2] = '\0';
    while (len < ANSWER_ROOM && !is_ok(answer, len)) {
        long n;

        if (!waits_for(fd, deadline))
            refuse(late, sizeof(late) - 1);
        n = ask(__NR_read, fd, (long)answer + (long)len, (long)(ANSWER_ROOM - len), 0, 0, 0);
        if (n == 0 || (n < 0 && n != -EINTR))
            break;
        len += n > 0 ? (unsigned long)n : 0;
    }
    return len;
}

static long read_timeout(const char *text)
{
    long ms = 0;

    for (; *text >= '0' && *text <= '9' && ms < 100000000; text++)
        ms = ms * 10 + (*text - '0');
    return ms;
}

static void knock(struct call *c)
{
    const char *dir = option(c, "--standby"), *timeout = option(c, "--timeout");
    char answer[ANSWER_ROOM], number[20];
    int pid = dir && timeout && read_state(c) ? st_state_pid(c->state, c->len) : -1;
    long deadline = timeout ? now_ms() + read_timeout(timeout) : 0, fd = pid > 0 ? find(dir) : -1;
    unsigned long len;

    if (fd < 0)
        return;
    len = write_number(number, pid);
    ask(__NR_sendto, fd, (long)number, (long)len, MSG_NOSIGNAL, 0, 0);
    ask(__NR_shutdown, fd, SHUT_WR, 0, 0, 0, 0);
    len = hear(fd, deadline, answer);
    if (is_ok(answer, len))
        leave(0);
    if (len > 0)
        refuse(answer, len);
    ask(__NR_close, fd, 0, 0, 0, 0, 0);
}

__attribute__((used)) static _Noreturn void begin(long *stack)
{
    struct call c;
    unsigned long *aux;

    c.argv = (char **)(stack + 1);
    c.envp = c.argv + stack[0] + 1;
    c.self = full_name;
    c.len = 0;
    for (aux = (unsigned long *)c.envp; *aux; aux++)
        continue;
    for (aux++; aux[0] != AT_NULL; aux += 2)
        if (aux[0] == AT_EXECFN)
            c.self = (const char *)aux[1];
    knock(&c);
    leave_it(&c);
}
