/* dial: from outside to the control socket of a container's monitor. */
#pragma once

/* The container's directory below state_dir, or -1 with errno. */
int st_dial_dir(const char *state_dir, const char *id);

/* A connected socket, or -1 with errno. By the directory's fd: a long path does not fit into an address. */
int st_dial(int dirfd);
