/* run_groups: the control groups of a run, by their name, in whatever hierarchies there are. */
#pragma once

/* Ends every process in them and removes them. Where there are none nothing happens. */
void st_run_groups_end(const char *id);
