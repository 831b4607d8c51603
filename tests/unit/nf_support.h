/* nf_support: two network namespaces of our own, joined by a cable: the test lives in the inner one, as a
 * container does, and visits the outer one. Needs root, and the programs ip and nft. */
#pragma once

#include "sensors/netfilter/netns.h"
#include "sensors/netfilter/nfqueue.h"
#include "sensors/netfilter/ruleset.h"

#include "unit.h"

#include <netinet/in.h>
#include <stdbool.h>

#define QUEUE 77
#define STAMP 0x5eed1234U
#define INNER4 "10.9.0.2"
#define OUTER4 "10.9.0.1"
#define INNER6 "fd09::2"
#define OUTER6 "fd09::1"

struct nf_world {
    int outer; /* the namespace */
    pid_t keeper;
    int rules_fd, queue_fd;
    struct st_ruleset rules;
    struct st_ruleset_order order;
};

/* cmocka's setup and teardown of a group; *state is a struct nf_world. */
int nf_world_open(void **state);
int nf_world_close(void **state);

/* Installs the rules of order, and binds the queue. */
void nf_enforce(struct nf_world *w);
void nf_release(struct nf_world *w);

/* A command of the shell, which must succeed. */
void nf_run(const char *command);
void nf_run_outside(struct nf_world *w, const char *command);

/* Sockets. outside: in the outer namespace. All are non-blocking. */
struct nf_socket {
    const char *addr;
    uint16_t port;
    int type;
    bool outside;
};
int nf_socket(struct nf_world *w,
              const struct nf_socket *s);                  /* bound, and listening where it is a stream's */
int nf_connect(const char *addr, uint16_t port, int type); /* from inside; does not wait */
int nf_send_to(int fd, const char *addr, uint16_t port, const char *text); /* 0 or -errno */
socklen_t nf_address(const char *addr, uint16_t port, struct sockaddr_storage *out);

/* Waits for it as long as it takes. */
void nf_wait(int fd, short events);
/* What became of a connect(): 0 or the error. Waits. */
int nf_connected(int fd);

/* Waits for a packet in the queue, and keeps a copy of what matters. */
struct nf_asked {
    struct st_nfqueue_packet packet; /* bytes: below */
    uint8_t bytes[2048];
};
void nf_asked(struct nf_world *w, struct nf_asked *asked);
bool nf_nothing_asked(struct nf_world *w);
void nf_say(struct nf_world *w, const struct nf_asked *asked, bool accept, uint32_t mark);

/* The mark of the only flow to this port; -1: there is none. */
int64_t nf_mark_of(uint16_t dst_port);
