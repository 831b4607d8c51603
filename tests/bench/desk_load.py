#!/usr/bin/env python3
"""desk_load.py SANDTRACE FOLDER TRACE [--assert]: asks a review desk over the database in FOLDER for pages by every kind of filter and
for summaries, keeps 200 live readers at it meanwhile, and prints the 95th percentiles and the memory of what speaks HTTP."""
import http.client
import itertools
import os
import select
import socket
import stat
import subprocess
import sys
import time

READERS = 200
ROUNDS = 40
RECORDS = 500
PAGES = ["", "severity=critical", "severity=high,critical,none", "kind=network_egress", "kind=filesystem&verdict=deny", "verdict=allow&kind=process",
         "analysis_id=bench-agent", "analysis_id=nobody", "container=bench&kind=dns_query", "container=bench&severity=critical&blocked=true", "blocked=true",
         "kind=lifecycle", "q=id_ed25519", "q=module", "q=file_17", "q=tool&kind=process", "q=api-4&verdict=allow", "q=module&severity=critical",
         "since=2026-03-26T12:05:00Z&until=2026-03-26T12:06:00Z&kind=process", "until=2026-03-26T12:00:10Z&verdict=deny", "q=nothing-is-called-so"]


def hear(readers, n):
    """Until each reader was told of n records, or missed them; how long it took."""
    begin = time.monotonic()
    told = {reader: b"" for reader in readers}
    waiting = set(readers)
    while waiting and time.monotonic() - begin < 60:
        for reader in select.select(list(waiting), [], [], 1)[0]:
            told[reader] += reader.recv(1 << 20)
            if told[reader].count(b"event: record\n") >= n:
                waiting.remove(reader)
    return time.monotonic() - begin, len(waiting)


def percentile(times):
    return sorted(times)[int(len(times) * 0.95)] * 1000


class Desk:
    def __init__(self, sandtrace, folder):
        env = dict(os.environ, SANDTRACE_DB=folder + "/events.db", SANDTRACE_STATE_DIR=folder + "/run")
        self.folder = folder
        self.process = subprocess.Popen([sandtrace, "serve", "--listen", "127.0.0.1:0", "--no-index"], stdout=subprocess.PIPE, text=True, env=env)
        self.port = int(self.process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
        self.head = {"Authorization": "Bearer " + open(folder + "/desk.token").read().strip()}
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        while True:
            try:
                self.get("/healthz")
                break
            except OSError:
                time.sleep(0.05)

    def get(self, path):
        begin = time.monotonic()
        self.connection.request("GET", path, headers=self.head)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {body[:200]!r}")
        return time.monotonic() - begin, body

    def listen(self):
        s = socket.create_connection(("127.0.0.1", self.port))
        s.sendall(f"GET /api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: {self.head['Authorization']}\r\n\r\n".encode())
        if not s.recv(4096).startswith(b"HTTP/1.1 200"):
            sys.exit("a reader was refused")
        return s

    def say(self, trace, n):
        """The first n records of a trace, as a monitor would say them to all who listen."""
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(next(os.path.join(folder, name) for folder, _, names in os.walk(self.folder + "/run") for name in names
                         if stat.S_ISSOCK(os.stat(os.path.join(folder, name)).st_mode)))
        with open(trace, "rb") as lines:
            for line in itertools.islice(lines, n):
                bus.sendall(line)
        return bus

    def memory(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        status = open(f"/proc/{children[0]}/status").read()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main():
    sandtrace, folder = sys.argv[1:3]
    desk = Desk(sandtrace, folder)
    missed = False
    readers = [desk.listen() for _ in range(READERS)]
    bus = desk.say(sys.argv[3], RECORDS)
    took, left = hear(readers, RECORDS)
    print(f"{'live':24} {READERS - left:10d} of {READERS} readers have {RECORDS} records each after {took:.1f} s")
    missed |= left > 0
    bus.close()
    worst = ("", 0.0)
    times = []
    for query in PAGES:
        desk.get("/api/sandbox-audit/events?" + query)
        some = [desk.get("/api/sandbox-audit/events?" + query)[0] for _ in range(ROUNDS)]
        times += some
        worst = max(worst, (query, percentile(some)), key=lambda w: w[1])
        if "-v" in sys.argv:
            print(f"    {percentile(some):8.2f} ms  {query}")
    lines = [("filtered page", percentile(times), 50, f"ms, the worst {worst[1]:.1f} ({worst[0] or 'no filter'})")]
    for name, path, goal in (("summary", "summary", 200), ("summary of an agent", "summary?analysis_id=bench-agent", 200), ("timeline", "timeline", 1000),
                             ("flows", "flows", 1000)):
        lines.append((name, percentile([desk.get("/api/sandbox-audit/" + path)[0] for _ in range(max(ROUNDS // 4, 5))]), goal, "ms"))
    lines.append((f"memory, {READERS} readers", desk.memory(), 64, "MB"))
    for name, value, goal, unit in lines:
        good = value < goal
        missed |= not good
        print(f"{name:24} {value:10.1f} {unit}   goal {goal}: {'met' if good else 'NOT MET'}")
    for reader in readers:
        reader.close()
    desk.process.terminate()
    desk.process.wait()
    if missed and "--assert" in sys.argv:
        sys.exit(1)


main()
