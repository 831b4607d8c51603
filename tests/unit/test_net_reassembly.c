/* Streams out of segments: in every order, and against senders who say two things. */
#include "sensors/net/http_head.h"
#include "sensors/net/reassembly.h"
#include "sensors/net/tls_hello.h"

#include "net_unit.h"

#define FIRST 0xfffffff0u /* the numbers go round soon */
#define MAX_BYTES 4096

static struct st_flows *flows;
static struct st_flow *flow;

static int make_flows(void **state)
{
    (void)state;
    flows = st_flows_new(4, MAX_BYTES);
    flow = NULL;
    return 0;
}

static int free_flows(void **state)
{
    (void)state;
    st_flows_free(flows);
    return 0;
}

static enum st_segment_is packet_of(uint16_t port, uint32_t seq, uint8_t flags, const void *data, size_t n)
{
    static const uint8_t src[] = {10, 0, 0, 2}, dst[] = {10, 0, 0, 1};
    struct st_packet packet = {
        .version = 4,
        .src = st_addr_from4(src),
        .dst = st_addr_from4(dst),
        .src_port = port,
        .dst_port = 443,
        .tcp_seq = seq,
        .tcp_flags = flags,
        .payload = data,
        .payload_len = n,
    };

    return st_flows_packet(flows, &packet, 1000 + port, &flow);
}

static enum st_segment_is syn(void)
{
    return packet_of(1, FIRST - 1, ST_TCP_SYN, NULL, 0);
}

static enum st_segment_is data(size_t at, const char *text)
{
    return packet_of(1, FIRST + (uint32_t)at, ST_TCP_ACK, text, strlen(text));
}

static void stream_is(const char *text)
{
    size_t n;
    const uint8_t *bytes = st_flow_bytes(flow, &n);

    assert_int_equal(n, strlen(text));
    if (n)
        assert_memory_equal(bytes, text, n);
}

static void segments_in_order_make_a_stream(void **state)
{
    (void)state;
    assert_int_equal(syn(), ST_SEGMENT_NOTHING);
    assert_int_equal(data(0, "what comes "), ST_SEGMENT_MORE);
    assert_int_equal(data(11, "goes round the end of numbers"), ST_SEGMENT_MORE);
    stream_is("what comes goes round the end of numbers");
}

static void segments_in_any_order_make_the_same_stream(void **state)
{
    (void)state;
    syn();
    assert_int_equal(data(6, "gh"), ST_SEGMENT_WAITS);
    assert_int_equal(data(3, "de"), ST_SEGMENT_WAITS);
    stream_is("");
    assert_int_equal(data(0, "abc"), ST_SEGMENT_MORE);
    stream_is("abcde");
    assert_int_equal(data(5, "f"), ST_SEGMENT_MORE);
    stream_is("abcdefgh");
}

static void what_is_sent_again_changes_nothing(void **state)
{
    (void)state;
    syn();
    data(0, "abcdef");
    assert_int_equal(syn(), ST_SEGMENT_NOTHING);
    assert_int_equal(data(0, "abcdef"), ST_SEGMENT_NOTHING);
    assert_int_equal(data(2, "cd"), ST_SEGMENT_NOTHING);
    assert_int_equal(data(4, "efgh"), ST_SEGMENT_MORE);
    assert_int_equal(packet_of(1, FIRST - 1, ST_TCP_ACK, "x", 1),
                     ST_SEGMENT_NOTHING); /* a keep-alive probe */
    assert_int_equal(packet_of(1, FIRST + 8, ST_TCP_ACK, NULL, 0), ST_SEGMENT_NOTHING);
    stream_is("abcdefgh");
}

static void two_contents_for_one_byte_are_refused_for_good(void **state)
{
    (void)state;
    syn();
    data(4, "evil");
    assert_int_equal(data(0, "goodgood"), ST_SEGMENT_REFUSED);
    assert_string_equal(st_flow_why(flow), "two contents for one byte of the stream");
    stream_is("");
    assert_int_equal(data(0, "good"), ST_SEGMENT_REFUSED);
}

static void a_second_beginning_is_refused(void **state)
{
    (void)state;
    syn();
    assert_int_equal(packet_of(1, FIRST - 101, ST_TCP_SYN, NULL, 0), ST_SEGMENT_REFUSED);
    assert_int_equal(data(0, "abc"), ST_SEGMENT_REFUSED);
    assert_int_equal(st_flows_count(flows), 1);
}

static void data_before_the_beginning_are_refused(void **state)
{
    (void)state;
    syn();
    assert_int_equal(packet_of(1, FIRST - 2, ST_TCP_ACK, "xyz", 3), ST_SEGMENT_REFUSED);
    assert_string_equal(st_flow_why(flow), "data before the beginning");
}

static void data_of_a_syn_are_data(void **state)
{
    (void)state;
    assert_int_equal(packet_of(1, FIRST - 1, ST_TCP_SYN, "fast", 4), ST_SEGMENT_MORE);
    stream_is("fast");
    assert_int_equal(data(4, " open"), ST_SEGMENT_MORE);
    stream_is("fast open");
    assert_int_equal(data(0, "slow"), ST_SEGMENT_REFUSED);
}

static void urgent_data_are_refused(void **state)
{
    (void)state;
    syn();
    data(0, "Host: a");
    assert_int_equal(packet_of(1, FIRST + 7, ST_TCP_ACK | ST_TCP_URG, "X", 1), ST_SEGMENT_REFUSED);
    assert_string_equal(st_flow_why(flow), "urgent data");
}

static void only_the_first_bytes_are_kept(void **state)
{
    static char text[MAX_BYTES + 100];
    size_t n;

    (void)state;
    memset(text, 'x', sizeof(text));
    syn();
    assert_int_equal(packet_of(1, FIRST, ST_TCP_ACK, text, sizeof(text)), ST_SEGMENT_MORE);
    st_flow_bytes(flow, &n);
    assert_int_equal(n, MAX_BYTES);
    assert_int_equal(data(MAX_BYTES - 1, "xx"), ST_SEGMENT_NOTHING);
    assert_int_equal(data(MAX_BYTES, "x"), ST_SEGMENT_REFUSED);
    assert_string_equal(st_flow_why(flow), "data beyond what may be looked at");
}

static void a_stream_in_too_many_pieces_is_refused(void **state)
{
    (void)state;
    syn();
    for (size_t i = 0; i < ST_FLOW_MAX_SEGMENTS; i++)
        assert_int_equal(data(i, "x"), ST_SEGMENT_MORE);
    assert_int_equal(packet_of(1, FIRST, ST_TCP_ACK, NULL, 0), ST_SEGMENT_NOTHING);
    assert_int_equal(data(ST_FLOW_MAX_SEGMENTS, "x"), ST_SEGMENT_REFUSED);
}

static void a_flow_without_a_beginning_is_not_known(void **state)
{
    (void)state;
    assert_int_equal(data(0, "abc"), ST_SEGMENT_UNKNOWN);
    assert_null(flow);
    assert_int_equal(st_flows_count(flows), 0);
}

static void there_is_room_for_so_many_flows_and_no_more(void **state)
{
    (void)state;
    for (uint16_t port = 1; port <= 4; port++)
        assert_int_equal(packet_of(port, 7, ST_TCP_SYN, NULL, 0), ST_SEGMENT_NOTHING);
    assert_int_equal(packet_of(5, 7, ST_TCP_SYN, NULL, 0), ST_SEGMENT_FULL);
    assert_null(flow);
    assert_int_equal(packet_of(5, 8, ST_TCP_ACK, "x", 1), ST_SEGMENT_UNKNOWN);
    packet_of(2, 8, ST_TCP_ACK, "x", 1);
    st_flows_close(flows, flow);
    assert_int_equal(packet_of(5, 7, ST_TCP_SYN, NULL, 0), ST_SEGMENT_NOTHING);
    assert_int_equal(packet_of(2, 9, ST_TCP_ACK, "x", 1), ST_SEGMENT_UNKNOWN);
}

static void flows_that_say_nothing_expire(void **state)
{
    (void)state;
    for (uint16_t port = 1; port <= 4; port++)
        packet_of(port, 7, ST_TCP_SYN, NULL, 0); /* at 1000 + port */
    assert_int_equal(st_flows_expire(flows, 1003), 2);
    assert_int_equal(st_flows_count(flows), 2);
    assert_int_equal(packet_of(1, 8, ST_TCP_ACK, "x", 1), ST_SEGMENT_UNKNOWN);
    assert_int_equal(packet_of(3, 8, ST_TCP_ACK, "x", 1), ST_SEGMENT_MORE);
}

/* A ClientHello of curl, in segments of seven bytes from the last to the first. */
static void a_hello_that_comes_backwards_is_read(void **state)
{
    struct bytes m = {0};
    struct st_tls_hello hello;
    const uint8_t *bytes;
    size_t n;

    (void)state;
    put_seed(&m, "tls_hello", "curl");
    syn();
    for (size_t at = m.n / 7 * 7 + 7; at > 0;) {
        at -= 7;
        packet_of(1, FIRST + (uint32_t)at, ST_TCP_ACK, m.b + at, m.n - at < 7 ? m.n - at : 7);
        bytes = st_flow_bytes(flow, &n);
        assert_int_equal(st_tls_hello_read(bytes, n, &hello), at ? ST_HELLO_MORE : ST_HELLO_DONE);
    }
    assert_string_equal(hello.sni, "api.example.com");
}

static void a_head_of_single_bytes_is_read(void **state)
{
    struct bytes m = {0};
    struct st_http_head head;
    const uint8_t *bytes;
    size_t n;

    (void)state;
    put_seed(&m, "http_head", "git");
    syn();
    for (size_t at = 0; at < m.n; at++) {
        packet_of(1, FIRST + (uint32_t)at, ST_TCP_ACK, m.b + at, 1);
        bytes = st_flow_bytes(flow, &n);
        assert_int_equal(st_http_head_read(bytes, n, &head), at + 1 < m.n ? ST_HEAD_MORE : ST_HEAD_DONE);
    }
    assert_string_equal(head.host.host, "localhost");
}

#define IN_A_TABLE(test) cmocka_unit_test_setup_teardown(test, make_flows, free_flows)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_TABLE(segments_in_order_make_a_stream),
        IN_A_TABLE(segments_in_any_order_make_the_same_stream),
        IN_A_TABLE(what_is_sent_again_changes_nothing),
        IN_A_TABLE(two_contents_for_one_byte_are_refused_for_good),
        IN_A_TABLE(a_second_beginning_is_refused),
        IN_A_TABLE(data_before_the_beginning_are_refused),
        IN_A_TABLE(data_of_a_syn_are_data),
        IN_A_TABLE(urgent_data_are_refused),
        IN_A_TABLE(only_the_first_bytes_are_kept),
        IN_A_TABLE(a_stream_in_too_many_pieces_is_refused),
        IN_A_TABLE(a_flow_without_a_beginning_is_not_known),
        IN_A_TABLE(there_is_room_for_so_many_flows_and_no_more),
        IN_A_TABLE(flows_that_say_nothing_expire),
        IN_A_TABLE(a_hello_that_comes_backwards_is_read),
        IN_A_TABLE(a_head_of_single_bytes_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
