#!/usr/bin/python3
"""Servers that write down what reaches them, one JSON object a line.

    net_servers.py LOG [tcp:PORT|udp:PORT…]

IPv4 and IPv6, on all addresses of the namespace. TCP takes what comes and sends it back as far as it is
read, UDP is an echo. All are ready when the log has a line with "ready".
"""
import json
import selectors
import socket
import sys

log = open(sys.argv[1], "a", buffering=1)
poll = selectors.DefaultSelector()


def note(what, **more):
    log.write(json.dumps({"what": what, **more}) + "\n")


def plain(address):
    """An IPv4 address as it is written, also where it came by an IPv6 socket."""
    return address.removeprefix("::ffff:")


class Connection:
    def __init__(self, sock, peer):
        self.sock, self.got = sock, 0
        local = sock.getsockname()
        self.ends = {"to": plain(local[0]), "port": local[1], "from": plain(peer[0]), "sport": peer[1]}
        note("accept", **self.ends)

    def ready(self):
        try:
            data = self.sock.recv(65536)
        except OSError as error:
            return self.end(str(error))
        if not data:
            return self.end("end")
        self.got += len(data)
        if self.got <= 4096:
            note("data", text=data.decode("latin-1")[:256], **self.ends)
        try:
            self.sock.send(data)
        except BlockingIOError:
            pass  # a sink: who does not read gets no echo
        except OSError as error:
            self.end(str(error))

    def end(self, how):
        note("close", bytes=self.got, how=how, **self.ends)
        poll.unregister(self.sock)
        self.sock.close()


class Listener:
    def __init__(self, port):
        self.sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        self.sock.bind(("::", port))
        self.sock.listen(4096)

    def ready(self):
        try:
            sock, peer = self.sock.accept()
        except OSError:
            return  # gone before it was taken
        sock.setblocking(False)
        poll.register(sock, selectors.EVENT_READ, Connection(sock, peer))


class Datagrams:
    def __init__(self, port):
        self.port = port
        self.sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        self.sock.bind(("::", port))

    def ready(self):
        try:
            data, aside, _, peer = self.sock.recvmsg(65536, 256)
        except OSError:
            return
        to = next(socket.inet_ntop(socket.AF_INET6, c[2][:16]) for c in aside if c[1] == socket.IPV6_PKTINFO)
        note("datagram", to=plain(to), port=self.port, text=data.decode("latin-1")[:256],
             **{"from": plain(peer[0]), "sport": peer[1]})
        try:  # from the address that was asked: the kernel would take another one
            self.sock.sendmsg([data], aside, 0, peer)
        except OSError as error:
            note("no-answer", how=str(error))


for protocol, port in (word.split(":") for word in sys.argv[2:]):
    server = {"tcp": Listener, "udp": Datagrams}[protocol](int(port))
    server.sock.setblocking(False)
    poll.register(server.sock, selectors.EVENT_READ, server)
note("ready")
while True:
    for key, _ in poll.select():
        key.data.ready()
