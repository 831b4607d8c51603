/* peer: who is at the other end of a local socket, by the kernel's word. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct st_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* Root, or a member of the group (its own or a supplementary one; -1: none such). */
bool st_peer_is_welcome(int fd, int64_t gid, struct st_peer *out);
