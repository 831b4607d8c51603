/* The pid in what a runtime writes to a hook, read without a C library; what is unusual is left to others. */
#include "state_pid.h"

#include "unit.h"

static void a_pid_is_found_wherever_it_stands(void **state)
{
    static const struct {
        const char *text;
        int pid;
    } cases[] = {
        {"{\"pid\":2}", 2},
        {" {\n\t\"pid\" : 4711 ,\r\n\"id\":\"a\"} \n", 4711},
        {"{\"ociVersion\":\"1.0.2\",\"id\":\"c\",\"status\":\"creating\",\"pid\":321,\"bundle\":\"/b\"}",
         321},
        {"{\"annotations\":{\"pid\":7,\"x\":[{\"pid\":8}]},\"pid\":2147483647}", 2147483647},
        {"{\"bundle\":\"/\\\"pid\\\":5,\",\"pid\":6}", 6},
        {"{\"a\":\"\\\\\",\"pid\":9}", 9},
        {"{\"a\":[],\"b\":{},\"c\":null,\"d\":-1.5e3,\"pid\":10}", 10},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        if (st_state_pid(cases[i].text, strlen(cases[i].text)) != cases[i].pid)
            fail_msg("%s: %d", cases[i].text, st_state_pid(cases[i].text, strlen(cases[i].text)));
}

static void what_is_unusual_is_left_to_who_knows_json(void **state)
{
    static const char *const cases[] = {
        "",
        "{",
        "{}",
        "[]",
        "7",
        "\"pid\"",
        "{\"id\":\"a\"}",
        "{\"pid\":}",
        "{\"pid\":1}",
        "{\"pid\":0}",
        "{\"pid\":-5}",
        "{\"pid\":+5}",
        "{\"pid\":5.0}",
        "{\"pid\":5e1}",
        "{\"pid\":\"5\"}",
        "{\"pid\":null}",
        "{\"pid\":2147483648}",
        "{\"pid\":99999999999999999999}",
        "{\"pid\":5,\"pid\":6}",
        "{\"p\\u0069d\":6,\"pid\":5}",
        "{\"pid\":5",
        "{\"pid\":5,",
        "{\"pid\":5,}",
        "{\"pid\":5}}",
        "{\"pid\":5}{",
        "{\"pid\":5]",
        "{\"a\":\"\\",
        "{\"a\":\"x",
        "{\"a\":[},\"pid\":5}",
        "{\"a\":]}",
        "{\"a\" \"b\",\"pid\":5}",
        "{\"annotations\":{\"pid\":7}}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        if (st_state_pid(cases[i], strlen(cases[i])) != -1)
            fail_msg("%s: %d", cases[i], st_state_pid(cases[i], strlen(cases[i])));
    assert_int_equal(st_state_pid("{\"pid\":5}", strlen("{\"pid\":5")), -1);
    assert_int_equal(st_state_pid("{\"pid\":5\0}", sizeof("{\"pid\":5\0}") - 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pid_is_found_wherever_it_stands),
        cmocka_unit_test(what_is_unusual_is_left_to_who_knows_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
