"""What is done in the containers. Owns the sizes and what each workload needs to find in the base that all containers share."""
import os
import random
import subprocess
import tarfile

SIZES = {
    "full": {"opens": 20000, "cold": 2000, "untar": 20000, "units": 8, "tree": 4000, "repo": 1500, "modules": 600, "connections": 400,
             "bytes": 512 << 20, "spawns": 300},
    "quick": {"opens": 10000, "cold": 1000, "untar": 4000, "units": 3, "tree": 2000, "repo": 500, "modules": 300, "connections": 200,
              "bytes": 256 << 20, "spawns": 100},
    "tiny": {"opens": 100, "cold": 20, "untar": 50, "units": 1, "tree": 40, "repo": 20, "modules": 10, "connections": 5,
             "bytes": 1 << 20, "spawns": 5},
}
DIRECTORY = 50  # files in one
HOT_FILES = 16  # of each place


class Workload:
    """One line of the table.

    command(n): what is timed, in its n-th run in a container; it begins with a kind of clock.c. before, after: shell, not
    timed. counts: what must have been seen of one run, by kind: opens, execs, creates, flows; fresh, files that
    no other run opens; files, which each run opens."""

    def __init__(self, name, title, command, counts, before="", after="", prepare=None):
        self.name, self.title, self.counts, self.before, self.after = name, title, counts, before, after
        self.command = command if callable(command) else lambda n: command
        self.prepare = prepare or (lambda base, runs: None)


def write_files(directory, number, rng, size=1000):
    """number files 0, 1, 2 … in directories of DIRECTORY; their paths."""
    paths = []
    for n in range(number):
        folder = os.path.join(directory, str(n // DIRECTORY))
        if n % DIRECTORY == 0:
            os.makedirs(folder)
        paths.append(os.path.join(folder, str(n)))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write("".join(rng.choice("abcdefghij \n") for _ in range(40)) * (size // 40))
    return paths


def cold_sets(base, runs, number):
    for run in range(runs):
        folder = f"{base}/opt/cold/{run}"
        os.makedirs(folder)
        for n in range(number):
            with open(f"{folder}/{n}", "w", encoding="ascii") as file:
                file.write(f"{run} {n}\n" * 20)


def hot_files(base):
    for place in ("opt", "workspace"):
        os.makedirs(f"{base}/{place}/hot")
        for n in range(HOT_FILES):
            with open(f"{base}/{place}/hot/{n}", "w", encoding="ascii") as file:
                file.write("hot\n")


def archive(base, number, rng):
    write_files(f"{base}/opt/archive", number, rng)
    with tarfile.open(f"{base}/opt/archive.tar", "w") as tar:
        tar.add(f"{base}/opt/archive", "archive")
    subprocess.run(["rm", "-rf", f"{base}/opt/archive"], check=True)


def sources(base, number):
    os.makedirs(f"{base}/workspace/src")
    for n in range(number):
        with open(f"{base}/workspace/src/{n}.c", "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <sys/socket.h>\n")
            for function in range(60):
                file.write(f"int f{n}_{function}(int a, char *b) {{ int s = {function}; for (int i = 0; i < a; i++) "
                           f"s += b[i] * {function + 3} ^ s; return s + (int)strlen(b); }}\n")


def trees(base, number, rng):
    for place in ("opt", "workspace"):
        write_files(f"{base}/{place}/tree", number // 2, rng)


def repository(base, number, rng):
    """A bare one in the system's part, packed, as a server would have it."""
    work, bare = f"{base}/opt/repo", f"{base}/opt/repo.git"
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "init.defaultBranch=main"]
    write_files(work, number, rng)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "env": {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": base}}
    for command in (["init", "-q", work], ["-C", work, "add", "."], ["-C", work, "commit", "-qm", "all"], ["clone", "-q", "--bare", work, bare]):
        subprocess.run(git + command, **quiet)
    subprocess.run(["rm", "-rf", work], check=True)


def modules(base, number):
    """Each asks for the next one but two, and so do packages: a folder, a package.json, a file."""
    root = f"{base}/opt/app"
    for n in range(number):
        os.makedirs(f"{root}/node_modules/m{n}/lib")
        with open(f"{root}/node_modules/m{n}/package.json", "w", encoding="ascii") as file:
            file.write(f'{{"name": "m{n}", "version": "1.0.0", "main": "lib/index.js"}}\n')
        with open(f"{root}/node_modules/m{n}/lib/index.js", "w", encoding="ascii") as file:
            file.write(f"module.exports = function f{n}(a) {{ return a + {n}; }};\n" * 10)
    with open(f"{root}/main.js", "w", encoding="ascii") as file:
        file.write(f"let s = 0; for (let i = 0; i < {number}; i++) s += require('m' + i)(i); if (s < 0) process.exit(1);\n")


def table(size, server, port):
    """All workloads, by name."""
    n, rng = SIZES[size], random.Random(8)
    hot = [f"/{place}/hot/{i}" for place in ("opt", "workspace") for i in range(HOT_FILES)]
    shell = ["clock", "run", "sh", "-c"]
    units = " ".join(f"src/{i}.c" for i in range(n["units"]))
    rows = [
        Workload("open-hot", f"{n['opens']:,} opens of {len(hot)} files", ["clock", "open", str(n["opens"]), *hot],
                 {"opens": n["opens"], "files": len(hot)}, prepare=lambda base, runs: hot_files(base)),
        Workload("open-cold", f"{n['cold']:,} files, each for the first time", lambda run: ["clock", "read", f"/opt/cold/{run}", str(n["cold"])],
                 {"opens": n["cold"], "fresh": n["cold"]}, prepare=lambda base, runs: cold_sets(base, runs, n["cold"])),
        Workload("untar", f"untar of {n['untar']:,} files", ["clock", "run", "tar", "--no-same-owner", "-xf", "/opt/archive.tar"],
                 {"opens": n["untar"], "files": n["untar"], "creates": n["untar"], "execs": 1}, after="rm -rf archive",
                 prepare=lambda base, runs: archive(base, n["untar"], rng)),
        Workload("compile", f"gcc of {n['units']} files", [*shell, f"for f in {units}; do gcc -O1 -c $f -o $f.o || exit; done; gcc -r -o all.o src/*.o"],
                 {"opens": 50 * n["units"], "files": 40, "creates": n["units"], "execs": 3 * n["units"]}, after="rm -f all.o src/*.o",
                 prepare=lambda base, runs: sources(base, n["units"])),
        Workload("find-grep", f"find and grep in {n['tree']:,} files", [*shell, "find /opt/tree tree -type f -print0 | xargs -0 grep -l nothing; true"],
                 {"opens": n["tree"], "files": n["tree"], "execs": 3}, prepare=lambda base, runs: trees(base, n["tree"], rng)),
        Workload("git", f"git clone of {n['repo']:,} files, and status", [*shell, "git clone -q file:///opt/repo.git clone && git -C clone status --short"],
                 {"opens": n["repo"], "files": n["repo"], "creates": n["repo"], "execs": 3}, after="rm -rf clone",
                 prepare=lambda base, runs: repository(base, n["repo"], rng)),
        Workload("node", f"node, {n['modules']} requires", ["clock", "run", "node", "/opt/app/main.js"],
                 {"opens": 2 * n["modules"], "files": 2 * n["modules"], "execs": 1}, prepare=lambda base, runs: modules(base, n["modules"])),
        Workload("tcp", f"{n['connections']} connections", ["clock", "connect", server, str(port), str(n["connections"])], {"flows": n["connections"]}),
        Workload("exec", f"{n['spawns']} times fork and exec", ["clock", "spawn", str(n["spawns"]), "/usr/bin/true"],
                 {"opens": n["spawns"], "execs": n["spawns"]}),
        Workload("bulk", f"download of {n['bytes'] >> 20} MiB", ["clock", "fetch", server, str(port), str(n["bytes"])], {"flows": 1}),
    ]
    return {row.name: row for row in rows}
