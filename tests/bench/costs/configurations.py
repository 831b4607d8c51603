"""Under what the work is done: plainly, under each depth, under others. Each says what it saw; one that is not there says why."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

from .box import Box, settle

# What touches a file by its name, starts a program, or opens a connection: what is on our traces too.
TRACED = "open,openat,openat2,creat,execve,execveat,connect,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat"
STRACE_KINDS = {"open": "opens", "openat": "opens", "openat2": "opens", "creat": "opens", "execve": "execs", "execveat": "execs", "connect": "flows"}


class Configuration:
    """Plain runc, and what the others change of it. start and stop stand around one workload, around() around one run of it."""
    depth = "plain"

    def __init__(self, name):
        self.name = name
        self.box = None

    def absent(self):
        """Why it can't be had here; None if it can."""
        return None

    def start(self, script, index):
        self.box = Box(script, self.name, index, self.depth)
        self.box.start()

    @contextlib.contextmanager
    def around(self):
        """Gives what stands before the runtime's command line."""
        yield []

    def watchers(self):
        return []

    def stop(self):
        """What was seen since start: {"events": n, kind: n}; empty where nobody looks."""
        self.box.stop()
        return {}


class Sandtrace(Configuration):
    def __init__(self, name):
        super().__init__(name)
        self.depth = name

    def watchers(self):
        return self.box.watchers()

    def stop(self):
        self.box.stop()
        return count_trace(self.box.take_trace())


def count_trace(records):
    """By kind. Folded records count for as many as they stand for."""
    seen = {"events": 0, "opens": 0, "creates": 0, "execs": 0, "flows": 0, "refused": 0, "lost": 0}
    paths = set()
    for record in records:
        payload = record["payload"]
        kind, what, times = record["event_type"], payload.get("op"), int(payload.get("count", 1))
        if kind in ("filesystem", "process", "network_egress"):
            seen["events"] += times
            seen["refused"] += times if record["verdict"]["result"] == "deny" else 0
        if kind == "filesystem" and what in ("open", "create", "exec"):
            seen["opens"] += times
            seen["creates"] += times if what == "create" else 0
            paths.add(payload["path"])
        elif kind == "process" and what == "exec":
            seen["execs"] += times
            seen["opens"] += times
        elif kind == "network_egress" and payload.get("state") == "attempt":
            seen["flows"] += times
        elif kind == "sensor":
            seen["lost"] += int(payload.get("lost", 0))
    return {**seen, "files": len(paths), "fresh": len(paths)}


class Strace(Configuration):
    """Wrapped around the runtime's own process, so that all that it starts in the container is traced."""

    def __init__(self, name):
        super().__init__(name)
        self.seen = {}
        self.log = os.path.join(os.environ.get("NOTES", "/nonexistent"), "strace.log")

    def absent(self):
        return None if shutil.which("strace") else "strace is not installed"

    def start(self, script, index):
        super().start(script, index)
        self.seen = {"events": 0, "opens": 0, "execs": 0, "flows": 0}

    @contextlib.contextmanager
    def around(self):
        yield ["strace", "-f", "-qq", "-o", self.log, "-e", f"trace={TRACED}"]
        with open(self.log, encoding="utf-8", errors="replace") as lines:
            for text in lines:
                self.count(text)
        os.unlink(self.log)

    def count(self, text):
        """A call that was interrupted by another's is on two lines; the first has its name and a bracket."""
        call = re.match(r"\d+ +(\w+)\(", text)
        if call:
            self.seen["events"] += 1
            if call[1] in STRACE_KINDS:
                self.seen[STRACE_KINDS[call[1]]] += 1

    def stop(self):
        super().stop()
        return self.seen


class Bpftrace(Configuration):
    """opensnoop.bt as it is shipped: it looks at the whole machine, and is there only while its own run is."""

    def __init__(self, name):
        super().__init__(name)
        self.process, self.seen = None, {}
        self.log = os.path.join(os.environ.get("NOTES", "/nonexistent"), "bpftrace.log")

    def script(self):
        places = ("/usr/sbin/opensnoop.bt", "/usr/share/bpftrace/tools/opensnoop.bt", "/usr/bin/opensnoop.bt")
        return next((place for place in places if os.path.exists(place)), None)

    def absent(self):
        if not shutil.which("bpftrace") or not self.script():
            return "bpftrace is not installed"
        tried = subprocess.run([*self.front(), "bpftrace", "-e", "tracepoint:syscalls:sys_enter_openat { exit(); } interval:s:1 { exit(); }"],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return None if tried.returncode == 0 else f"its program does not load here: {tried.stderr.strip().splitlines()[-1:]}"

    @staticmethod
    def front():
        """Tracepoints are found below tracefs, which is mounted for this process alone where it is not."""
        return ["unshare", "--mount", "sh", "-c", '[ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing && exec "$@"', "sh"]

    def start(self, script, index):
        super().start(script, index)
        self.seen = {"events": 0, "opens": 0, "lost": 0}

    def watchers(self):
        return [self.process.pid] if self.process else []

    @contextlib.contextmanager
    def around(self):
        with open(self.log, "w", encoding="utf-8") as out:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([*self.front(), "bpftrace", self.script()], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            while "Tracing open" not in self.said():
                if self.process.poll() is not None:
                    raise RuntimeError(f"bpftrace: {self.said()}")
                time.sleep(0.05)
            yield []
            settle(self.watchers())
        finally:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
            self.process = None
        for text in self.said().splitlines():
            lost = re.match(r"Lost (\d+) events", text)
            self.seen["lost"] += int(lost[1]) if lost else 0
            self.seen["opens"] += bool(re.match(r"\d+ ", text))
        self.seen["events"] = self.seen["opens"]

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        super().stop()
        return self.seen


class Auditd(Configuration):
    def absent(self):
        if not shutil.which("auditd"):
            return "auditd is not installed"
        return ("left out: once auditing is on, the kernel prepares every new process of the machine for it until the next boot, "
                "which would weigh on the plain containers too")


def table():
    """All configurations, by name; the first two are the A/A pair."""
    from .fapolicyd import Fapolicyd  # its base class is here
    found = [Configuration("plain"), Configuration("again"), Sandtrace("guard"), Sandtrace("record"), Sandtrace("strict"), Strace("strace"),
             Bpftrace("bpftrace"), Auditd("auditd"), Fapolicyd("fapolicyd")]
    return {configuration.name: configuration for configuration in found}
