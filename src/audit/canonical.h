/* canonical: any JSON document as canonical JSON. The slow way round, for text that others wrote. */
#pragma once

#include "audit/scan.h"
#include "base/buf.h"
#include "base/json.h"

/* Appends the value. Numbers stay as they are written: false where the rules do not allow one. */
bool st_canonical(const struct st_json_node *value, enum st_scan_rules rules, struct st_buf *out);
