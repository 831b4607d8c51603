/* verdict: names. */
#include "model/verdict.h"

#include "model/names.h"

ST_NAMES(result, enum st_result, "allow", "deny", "anomaly")
ST_NAMES(severity, enum st_severity, "none", "low", "medium", "high", "critical")
ST_NAMES(action, enum st_action, "none", "denied", "paused", "killed")
ST_NAMES(response, enum st_response, "record", "deny", "pause", "kill")
