"""One container, and who watches it. Knows the world of bench.sh by its environment; box.sh starts and stops."""
import glob
import json
import os
import subprocess
import time

QUIET_NS = 300_000     # of work in LOOK_SECONDS: the dead man's switch is renewed, and nothing else is done
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 120


def cpu_ns(pids):
    """What these processes have had of the processor, their threads together."""
    total = 0
    for pid in pids:
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total


def pss_kb(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def settle(pids):
    """Until they have nothing left to do: what is told afterwards is part of this run, and no burden of the next."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    before = cpu_ns(pids)
    while pids:
        time.sleep(LOOK_SECONDS)
        now = cpu_ns(pids)
        if now - before < QUIET_NS:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"processes {pids} do not come to rest")
        before = now


class Box:
    def __init__(self, script, name, index, depth):
        self.script, self.name, self.index, self.depth = script, name, index, depth
        self.world = os.environ["WORLD"]
        self.ident = f"{os.environ['WORLD_NAME']}-{name}"

    def start(self):
        subprocess.run([self.script, "start", self.name, str(self.index), self.depth], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        subprocess.run([self.script, "stop", self.name], check=True)

    def execute(self, argv, front=(), **how):
        """Standard output of a command there; front: what stands before the runtime."""
        command = [*front, "runc", "--root", f"{self.world}/root", "exec", self.ident, *argv]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, **how).stdout

    def watchers(self):
        """Pids of the monitor; none by plain runc."""
        try:
            with open(f"{self.world}/run/{self.ident}/state.json", encoding="utf-8") as file:
                state = json.load(file)
        except FileNotFoundError:
            return []
        return [state["warden"], state["worker"]]

    def take_trace(self):
        """The records of its trace, which goes: the next container of that name begins anew."""
        paths = sorted(glob.glob(f"{glob.escape(self.world)}/log/{self.ident}.jsonl*"))
        records = []
        for path in paths:
            with open(path, encoding="utf-8") as lines:
                records += [json.loads(line) for line in lines]
            os.unlink(path)
        return records
