#!/usr/bin/python3
"""Loads, inside a container: reads one a line, prints how many seconds it took.

    bulk ADDRESS | address ADDRESS PORT TIMES | name HOST TIMES
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
    begin = time.perf_counter()
    size = get((address, 80), "/large", address)
    assert size > 64 << 20, size
    return time.perf_counter() - begin


def connections(address, port, times):
    begin = time.perf_counter()
    for _ in range(int(times)):
        socket.create_connection((address, int(port))).close()
    return time.perf_counter() - begin


def requests(host, times):
    address = socket.getaddrinfo(host, 80, socket.AF_INET)[0][4]
    begin = time.perf_counter()
    for _ in range(int(times)):
        assert get(address, "/", host) > 0
    return time.perf_counter() - begin


LOADS = {"bulk": bulk, "address": connections, "name": requests}

for line in sys.stdin:
    kind, *rest = line.split()
    print(LOADS[kind](*rest), flush=True)
