/* network_private: what the files of the network sensor share. */
#pragma once

#include "monitor/network.h"
#include "monitor/outpost.h"
#include "policy/rule.h"
#include "sensors/net/packet.h"

#define ST_NETWORK_QUEUE 0x5a7d /* number of our queue in a namespace that is all ours */
#define ST_NETWORK_RENEW_NS 1000000000LL

/* Of struct st_flow_entry. */
enum st_flow_stage {
    ST_FLOW_HELD = 1, /* a person is asked about it */
    ST_FLOW_NAME,     /* its name is yet to be told */
    ST_FLOW_COUNT,    /* its bytes are counted */
    ST_FLOW_OPEN,
    ST_FLOW_DNS,
    ST_FLOW_REFUSED
};

/* One packet that waits. */
struct st_arrival {
    const struct st_nfqueue_packet *seen;
    struct st_packet packet;
    struct st_flow_tuple tuple;
    int64_t seen_ns, now_ms;
    bool as_seen; /* it tells its name: it goes as it was looked at */
};

int64_t st_network_now_ms(void);

/* network_open.c: from here on the packets of the namespace are ours to judge. */
int st_network_keep_rules(struct st_network *n, struct st_error *err);
/* network_callers.c: who connects is noted in the kernel, where it can be and anything can leave. */
void st_network_meet_callers(struct st_network *n, const struct st_watch *w);
/* The process of an event. */
void st_network_attribute(struct st_network *n, struct st_event *ev, const struct st_flow_tuple *t);
/* network_host.c: a container in the host's network: 0: by its control group; 1: not watched, detail says
 * why. limited: the policy could refuse something. */
int st_network_meet_host(struct st_network *n, const struct st_watch *w, bool limited, struct st_error *err);
int st_network_bind_queue(struct st_network *n, struct st_error *err);
/* What the container has left to the kernel to send, and was not approved, is not sent when the rules go. */
void st_network_end_sockets(struct st_network *n);

void st_network_look_at_policy(struct st_network *n);
void st_network_describe(struct st_network *n);

/* Answers to the queue. */
void st_network_accept(struct st_network *n, struct st_nfqueue_ticket packet, uint32_t mark);
/* As it was when it was looked at, whatever its sender has done to it since. */
void st_network_accept_seen(struct st_network *n, const struct st_arrival *a, uint32_t mark);
void st_network_accept_copy(struct st_network *n, struct st_nfqueue_ticket packet, uint32_t mark,
                            const uint8_t *copy, size_t len);
/* To be freed; its sum is filled in. */
uint8_t *st_network_copy(const struct st_arrival *a);
void st_network_drop(struct st_network *n, struct st_nfqueue_ticket packet);

/* A record of ours: state and detail of this sensor. */
void st_network_say(struct st_network *n, const char *state, const char *detail);

/* The server of a connection that is refused after it was made hears that it is over. */
void st_network_abandon(struct st_network *n, const struct st_arrival *a);

/* network_flow.c: the event that a packet of this flow is an example of. */
struct st_event st_network_event(struct st_network *n, enum st_event_type type,
                                 const struct st_flow_tuple *t);

/* The first packet of a flow, either way. */
void st_network_judge_flow(struct st_network *n, const struct st_arrival *a, enum st_event_type type);

/* A flow that began without a question: entered (NULL: there was no room) and recorded. */
struct st_flow_entry *st_network_begin(struct st_network *n, struct st_event *ev,
                                       const struct st_flow_tuple *t, enum st_flow_stage stage);
/* One that goes by a name, by its first packet. */
void st_network_begin_by_name(struct st_network *n, const struct st_arrival *a);

/* The rule that said it, where it counts bytes; else UINT32_MAX. */
uint32_t st_network_limiting_rule(const struct st_network *n, const struct st_verdict *v);
/* network_bytes.c: the rule that counts a flow's bytes may be another, or gone; or the flow may not be. */
void st_network_reassess(struct st_network *n, struct st_flow_entry *e);

/* May it send so many bytes more? */
bool st_network_within_limit(struct st_network *n, const struct st_flow_entry *e, size_t more);

/* One more packet of a flow of which every packet with data is looked at. */
void st_network_count(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e);

/* network_name.c */
void st_network_forget_flow(struct st_network *n, struct st_flow_entry *e);

/* Those whose first packets wait for too long. */
void st_network_lose_patience(struct st_network *n);
void st_network_check_name(struct st_network *n, const struct st_arrival *a, struct st_flow_entry *e);

/* network_dns.c */
bool st_network_is_resolver(const struct st_network *n, const struct st_addr *addr);
/* A connection to a resolver, and what came back on it. */
void st_network_forget_dns(struct st_network *n, const struct st_flow_tuple *t);
void st_network_dns_query(struct st_network *n, const struct st_arrival *a);
void st_network_dns_answer(struct st_network *n, const struct st_arrival *a);

/* A query to another server than ours, for what one of ours is being asked right now: an engine's resolver
 * inside of the namespace that passes it on. false: it is not; nothing was answered. */
bool st_network_dns_forward(struct st_network *n, const struct st_arrival *a);

/* network_log.c: what the rules tell of: their sockets, and which connections by name have begun so far. */
int st_network_bind_logs(struct st_network *n, struct st_error *err);
void st_network_on_frames(void *ctx, uint32_t events);
void st_network_hear_begun(struct st_network *n);

/* network_end.c: what conntrack tells. */
void st_network_flow_news(void *ctx, uint32_t events);

/* What it has told while nobody listened. */
void st_network_late_news(struct st_network *n);

/* All that it has told so far. */
void st_network_catch_up(struct st_network *n);

/* A refusal for a reason of our own, of a flow. */
void st_network_refuse(struct st_network *n, const struct st_arrival *a, enum st_event_type type,
                       struct st_str host, enum st_host_source source, const char *reason);

/* network_outside.c: nothing to do where the container can't change its network. */
int st_network_outside_check(struct st_network *n, const struct st_watch *w, struct st_error *err);
int st_network_outside_begin(struct st_network *n, const struct st_watch *w, int ns, struct st_error *err);
int st_network_outside_enter(struct st_network *n, struct st_error *err);
int st_network_outside_keep(struct st_network *n, struct st_error *err);
void st_network_outside_device(struct st_network *n, const struct st_device *d);
/* Why a flow can't be let; NULL: it can. */
const char *st_network_outside_fault(const struct st_network *n, bool by_name, bool counted);
/* When these return true, it passes outside too. */
bool st_network_outside_let(struct st_network *n, const struct st_flow_tuple *t, bool ingress);
bool st_network_outside_query(struct st_network *n, const struct st_addr *to, const uint8_t *bytes,
                              size_t len);
/* The same, by the whole packet. */
bool st_network_outside_packet(struct st_network *n, const uint8_t *bytes, size_t len);
void st_network_outside_reconsider(struct st_network *n);
void st_network_outside_tell(struct st_network *n, enum st_outpost_kind kind);
void st_network_outside_close(struct st_network *n, bool last);
