#!/usr/bin/python3
"""One load, inside a container; prints how many seconds it took.

    net_load.py bulk ADDRESS PORT | address ADDRESS PORT TIMES | name HOST TIMES
"""
import socket
import sys
import time


def get(address, path, host):
    with socket.create_connection(address) as flow:
        flow.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        size = 0
        while True:
            piece = flow.recv(1 << 20)
            if not piece:
                return size
            size += len(piece)


def bulk(address):
    size = get((address, 80), "/large", address)
    assert size > 64 << 20, size


def connections(address, port, times):
    for _ in range(times):
        socket.create_connection((address, port)).close()


def requests(host, times):
    address = socket.getaddrinfo(host, 80, socket.AF_INET)[0][4]
    begin = time.perf_counter()
    for _ in range(times):
        assert get(address, "/", host) > 0
    return time.perf_counter() - begin


def main():
    kind = sys.argv[1]
    begin = time.perf_counter()
    took = None
    if kind == "bulk":
        bulk(sys.argv[2])
    elif kind == "address":
        connections(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        took = requests(sys.argv[2], int(sys.argv[3]))
    print(took if took is not None else time.perf_counter() - begin)


main()
