"""fapolicyd, in a root of its own (fapolicyd.sh), over the file systems of its own container."""
import os
import re
import shutil
import signal
import subprocess
import time

from .configurations import Configuration

PATIENCE_SECONDS = 30


class Fapolicyd(Configuration):
    def __init__(self, name):
        super().__init__(name)
        self.process, self.root = None, os.path.join(os.environ.get("WORLD", "/nonexistent"), "fapolicyd")
        self.log = os.path.join(os.environ.get("NOTES", "/nonexistent"), "fapolicyd.log")

    def absent(self):
        return None if self.program() else "fapolicyd is not installed"

    @staticmethod
    def program():
        return shutil.which("fapolicyd", path=os.environ.get("PATH", "") + ":/usr/sbin")

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def start(self, script, index):
        super().start(script, index)
        bundle = os.path.join(self.box.world, "bundles", self.name)
        os.makedirs(self.root, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "fapolicyd", self.root], check=True)
        command = ["unshare", "--mount", "--propagation", "private", os.path.join(os.path.dirname(script), "fapolicyd.sh"), self.root, self.program(),
                   f"{bundle}/rootfs", f"{bundle}/usr"]
        with open(self.log, "w", encoding="utf-8") as out:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "listen for events" not in self.said():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.end()
                raise RuntimeError(f"fapolicyd does not start: {self.said()[-500:]}")
            time.sleep(0.05)

    def watchers(self):
        return [self.process.pid]

    def end(self):
        """How many accesses it decided; its own report comes at its end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        report = os.path.join(self.root, "log", "fapolicyd-access.log")
        text = ""
        if os.path.exists(report):
            with open(report, encoding="utf-8", errors="replace") as file:
                text = file.read()
        subprocess.run(["umount", self.root], check=True)
        return sum(int(number) for number in re.findall(r"(?:Allowed|Denied) accesses: (\d+)", text))

    def stop(self):
        decided = self.end()
        super().stop()
        return {"events": decided, "opens": decided}
