/* Any line as a record of the older dialect: no crash, and however a line is written, its canonical form is
 * the same record with the same hash. */
#include "audit/canonical.h"
#include "audit/frame.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_buf scratch = ST_BUF_INIT, other = ST_BUF_INIT, canonical = ST_BUF_INIT;
    unsigned char digest[ST_SHA256_SIZE], again[ST_SHA256_SIZE];
    struct st_str line = {.p = (const char *)data, .len = size};
    st_auto_json doc = NULL;
    struct st_frame f, g;
    const char *why = NULL;
    struct st_error err;

    if (st_frame_read(line, &scratch, &f, &why) != ST_FRAME_OK) {
        demand(why != NULL);
        return 0;
    }
    st_frame_hash(&f, digest);
    if (f.dialect != ST_DIALECT_OLDER ||
        st_json_parse(line.p, line.len, ST_JSON_DEFAULT_LIMITS, &doc, &err) < 0)
        return 0; /* what the fast way takes and the parser does not: a key twice that means nothing */
    demand(st_canonical(st_json_root(doc), ST_SCAN_BYTEWISE, &canonical));
    demand(st_frame_read((struct st_str){.p = canonical.data, .len = canonical.len}, &other, &g, &why) ==
           ST_FRAME_OK);
    st_frame_hash(&g, again);
    demand(g.seq == f.seq && memcmp(digest, again, sizeof(digest)) == 0);
    return 0;
}
