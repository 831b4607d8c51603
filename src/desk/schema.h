/* schema: what is in the database, and how an older one becomes the present one. */
#pragma once

#include "desk/db.h"

/* The version that this program writes and reads (PRAGMA user_version). */
#define ST_SCHEMA_VERSION 3

/* Is it ours, of whatever version, or empty? -EPROTO: another program's. Changes nothing. */
int st_schema_whose(struct st_db *db, struct st_error *err);

/* Every step from the file's version on, each whole or not at all. A version of the future is -EPROTO. */
int st_schema_bring_up(struct st_db *db, struct st_error *err);

/* Is it the present version? -EPROTO: no. */
int st_schema_check(struct st_db *db, struct st_error *err);
