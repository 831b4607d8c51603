#!/usr/bin/env python3
"""The other end of a monitor's sockets, for the tests.

  talk.py ask SOCKET [LINE...]       send the lines, print what comes until the monitor hangs up
  talk.py listen SOCKET OUT          a reader of the bus: every byte of every monitor goes to OUT.PID
  talk.py mute SOCKET                a reader that is connected to and never reads
  talk.py late SOCKET OUT SIGNAL     binds at once, listens when the file SIGNAL appears
"""
import os
import selectors
import socket
import struct
import sys
import time


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


def ask(path, *lines):
    s = connect(path)
    try:
        s.sendall("".join(line + "\n" for line in lines).encode())
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # cut off before we had said all; what it says counts
    while True:
        try:
            data = s.recv(65536)
        except ConnectionResetError:
            return  # hung up with words of ours unread
        if not data:
            return
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def peer_pid(s):
    return struct.unpack("iII", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def serve(server, out):
    chooser = selectors.DefaultSelector()
    chooser.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in chooser.select():
            if key.fileobj is server:
                s, _ = server.accept()
                chooser.register(s, selectors.EVENT_READ, open(f"{out}.{peer_pid(s)}", "ab", buffering=0))
                continue
            data = key.fileobj.recv(65536)
            if data:
                key.data.write(data)
            else:
                chooser.unregister(key.fileobj)
                key.fileobj.close()
                key.data.close()


def bind(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    return server


def listen(path, out):
    server = bind(path)
    server.listen(64)
    serve(server, out)


def late(path, out, signal):
    server = bind(path)
    while not os.path.exists(signal):
        time.sleep(0.01)
    server.listen(64)
    serve(server, out)


def mute(path):
    server = bind(path)
    server.listen(64)
    kept = []
    while True:
        kept.append(server.accept())


if __name__ == "__main__":
    {"ask": ask, "listen": listen, "mute": mute, "late": late}[sys.argv[1]](*sys.argv[2:])
