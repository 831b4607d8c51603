"""listen.py KIND PATH FILE: binds a socket (stream or dgram) at PATH and appends what comes to FILE."""
import os
import socket
import sys


def main():
    kind, path, file = sys.argv[1:]
    out = open(file, "ab", buffering=0)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if kind == "stream" else socket.SOCK_DGRAM)
    s.bind(path)
    if kind == "dgram":
        while True:
            out.write(s.recv(1 << 20) + b"\n")
    s.listen(16)
    while True:
        peer, _ = s.accept()
        while data := peer.recv(1 << 16):
            out.write(data)
        peer.close()


try:
    main()
except KeyboardInterrupt:
    os._exit(0)
