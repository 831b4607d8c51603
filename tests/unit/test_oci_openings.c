/* What of the machine a config.json opens by devices and settings. */
#include "oci/openings.h"

#include "base/cleanup.h"
#include "unit.h"

#define CLOSED "\"readonlyPaths\":[\"/proc/sys\",\"/proc/sysrq-trigger\"]"
#define PROC "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\"}]"

static bool opens(const char *text, const char *words)
{
    st_auto_oci_config config = NULL;
    struct st_error err = {0};
    const char *found;

    assert_int_equal(st_oci_config_parse(text, strlen(text), &config, &err), 0);
    found = st_oci_opening(config);
    return words ? found && strstr(found, words) : !found;
}

static bool devices_open(const char *rules, const char *words)
{
    char text[1024];

    snprintf(text, sizeof(text), "{\"linux\":{\"resources\":{\"devices\":[%s]}}}", rules);
    return opens(text, words);
}

#define NONE "{\"allow\":false,\"access\":\"rwm\"}"
#define ALL "{\"allow\":true,\"access\":\"rwm\"}"

static void devices_are_told_by_the_last_rule_that_speaks_of_them(void **state)
{
    (void)state;
    assert_true(devices_open("", NULL));
    assert_true(devices_open(NONE, NULL));
    assert_true(devices_open(ALL, "all devices"));
    assert_true(devices_open("{\"allow\":true}", "all devices"));
    assert_true(devices_open(NONE "," ALL, "all devices"));
    assert_true(devices_open(ALL "," NONE, NULL));
    assert_true(devices_open(ALL ",{\"allow\":false,\"type\":\"a\",\"access\":\"m\"}", "all devices"));
}

static void disks_and_memory_are_found_among_others(void **state)
{
    (void)state;
    assert_true(devices_open("{\"allow\":true,\"type\":\"b\",\"access\":\"m\"},"
                             "{\"allow\":true,\"type\":\"c\",\"access\":\"m\"},"
                             "{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"}",
                             NULL));
    assert_true(
        devices_open("{\"allow\":true,\"type\":\"b\",\"major\":8,\"minor\":0,\"access\":\"r\"}", "disks"));
    assert_true(devices_open("{\"allow\":true,\"type\":\"c\",\"major\":1,\"access\":\"r\"}", "memory"));
    assert_true(devices_open("{\"allow\":true,\"type\":\"c\",\"access\":\"w\"}", "memory"));
    assert_true(
        devices_open("{\"allow\":true,\"type\":\"c\",\"major\":10,\"minor\":1,\"access\":\"rw\"}", NULL));
    assert_true(devices_open("{\"allow\":\"yes\",\"type\":3,\"major\":\"x\"},7,null", NULL));
}

static void settings_are_open_unless_both_are_closed(void **state)
{
    (void)state;
    assert_true(opens("{" PROC "}", "settings"));
    assert_true(opens("{" PROC ",\"linux\":{" CLOSED "}}", NULL));
    assert_true(opens("{" PROC ",\"linux\":{\"readonlyPaths\":[\"/proc/sys\"]}}", "settings"));
    assert_true(opens("{" PROC ",\"linux\":{\"readonlyPaths\":[\"/proc\"]}}", NULL));
    assert_true(opens("{" PROC ",\"linux\":{\"namespaces\":[{\"type\":\"user\"}]}}", NULL));
    assert_true(
        opens("{\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"options\":[\"ro\"]}]}", NULL));
    assert_true(opens("{}", NULL));
}

static void settings_are_closed_and_opened_again(void **state)
{
    static const char open[] = "{" PROC ",\"linux\":{\"readonlyPaths\":[\"/proc/sys\", \"/x\"]}}";
    st_auto_oci_config config = NULL;
    st_auto_buf note = ST_BUF_INIT;
    struct st_error err = {0};
    size_t len;

    (void)state;
    assert_int_equal(st_oci_config_parse(open, strlen(open), &config, &err), 0);
    assert_int_equal(st_oci_close_settings(config, &note, &err), 0);
    assert_string_equal(st_buf_cstr(&note), "/proc/sysrq-trigger");
    assert_int_equal(st_oci_config_settle(config, &err), 0);
    assert_null(st_oci_opening(config));
    st_oci_reset_settings(config, NULL);
    assert_false(st_json_edit_changed(st_oci_config_edit(config)));
    st_oci_reset_settings(config, st_buf_cstr(&note));
    assert_int_equal(st_oci_config_settle(config, &err), 0);
    assert_string_equal(st_oci_config_text(config, &len), open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_told_by_the_last_rule_that_speaks_of_them),
        cmocka_unit_test(disks_and_memory_are_found_among_others),
        cmocka_unit_test(settings_are_open_unless_both_are_closed),
        cmocka_unit_test(settings_are_closed_and_opened_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
