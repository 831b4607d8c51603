/* procstat: the fields of /proc/PID/stat. */
#pragma once

#define ST_PROCSTAT_SIZE 1024

/* The fields from the third, the state, on; NULL: it can't be read. The second is a name that the process
 * chooses, and may hold anything: fields are counted from its last ')'. */
const char *st_procstat(int dirfd, const char *path, char text[ST_PROCSTAT_SIZE]);
