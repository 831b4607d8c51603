/* helper: hands the runtime the program that lays Landlock's floor (landlock_helper.c), as an fd that stays
 * open into the container: the bytes are our own, sealed, and nobody can write them. */
#pragma once

#include "base/error.h"
#include "oci/argv.h"

#include <stddef.h>

/* The number that the fd will have: behind those that the caller hands on already. */
int st_shim_helper_number(const struct st_oci_args *args, int *out, struct st_error *err);

/* An anonymous file of these bytes that nobody can change any more; not closed by exec. */
int st_shim_sealed_file(const char *name, const void *bytes, size_t n, int at_least, struct st_error *err);

/* Put the helper there, and one more preserved fd into the command line. argv becomes a new one, which like
 * its new words is never freed: the runtime takes our place. */
int st_shim_helper_hand(const struct st_oci_args *args, int number, char ***argv, struct st_error *err);

/* The value of an option (a pointer into a word of argv) by another. */
void st_shim_replace_value(char **argv, const char *value, const char *by);
