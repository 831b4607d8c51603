/* verify_input: a whole input through a verifier, with a progress bar. */
#pragma once

#include "audit/verify.h"
#include "cli/input.h"

int st_verify_input(struct st_verifier *v, struct st_input *in, const char *name, struct st_error *err);
