/* landlock: what this kernel has of it. */
#pragma once

#include "base/error.h"

/* 0: nothing. */
int st_bundle_landlock_abi(void);

/* Refused (-EOPNOTSUPP), with what to write instead, where Landlock would leave a gap. */
int st_bundle_landlock_check(const char *policy, struct st_error *err);
