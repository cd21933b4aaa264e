"""A small disk of a test's own, which it can fill and make read-only: a tmpfs that only its processes see."""

import os
import subprocess
from pathlib import Path

UNSHARE = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
ENTER = ["nsenter", "--mount", *(["--user", "--preserve-credentials"] if os.getuid() else [])]


def can_mount():
    """Whether this user may mount something where nobody else sees it."""
    try:
        command = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        return False


class SmallDisk:
    """A file system of some megabytes on a folder, for as long as a block runs.

    Parameters
    ----------
    folder : Path
        Exists and is empty.
    megabytes : int
    """

    def __init__(self, folder, megabytes):
        self.folder, self.megabytes = folder, megabytes

    def __enter__(self):
        # The process holds the mounts and ends with its input, that is with the tests, however they end.
        self.holder = subprocess.Popen([*UNSHARE, "sh", "-c", "echo; exec cat"], stdin=-1, stdout=-1)
        self.holder.stdout.readline()
        self.run("mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "none", str(self.folder))
        return self

    def __exit__(self, *error):
        self.holder.stdin.close()
        self.holder.stdout.close()
        self.holder.wait()

    def inside(self, *command, cwd="."):
        """Give a command with which another one runs where the disk is seen."""
        return [*ENTER, f"--target={self.holder.pid}", f"--wd={self.seen(cwd)}", "--", *command]

    def run(self, *command):
        subprocess.run(self.inside(*command), check=True)

    def seen(self, path):
        """Give the name under which the tests themselves see what is on the disk."""
        return Path(f"/proc/{self.holder.pid}/root{Path(path).absolute()}")

    def fill(self, left=0):
        """Fill the disk but for some bytes."""
        with open(self.seen(self.folder / "ballast"), "wb") as file:
            free = os.statvfs(file.fileno())
            file.write(bytes(free.f_bavail * free.f_frsize - left))

    def make_space(self):
        self.seen(self.folder / "ballast").unlink()

    def set_writable(self, writable):
        self.run("mount", "-o", f"remount,bind,{'rw' if writable else 'ro'}", str(self.folder))
