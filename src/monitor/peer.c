/* peer: see peer.h. */
#include "monitor/peer.h"

#include <errno.h>
#include <sys/socket.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

/* Supplementary groups as they were at connect(). Whoever is in more than fit here (the kernel then says
 * ERANGE) is refused. */
static bool is_member(int fd, gid_t gid)
{
    gid_t groups[4096];
    socklen_t len = sizeof(groups);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
        return false;
    for (socklen_t i = 0; i < len / sizeof(gid_t); i++)
        if (groups[i] == gid)
            return true;
    return false;
}

bool st_peer_is_welcome(int fd, int64_t gid, struct st_peer *out)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    *out = (struct st_peer){.uid = (uid_t)-1, .gid = (gid_t)-1};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    *out = (struct st_peer){.pid = peer.pid, .uid = peer.uid, .gid = peer.gid};
    if (peer.uid == 0)
        return true;
    return gid >= 0 && (peer.gid == (gid_t)gid || is_member(fd, (gid_t)gid));
}
