"""Provide a run of six small jobs, from a mirror to a table, for tests that interrupt this run."""

import json
import shutil
import subprocess
import time
from base64 import urlsafe_b64decode
from itertools import chain
from pathlib import Path

import pandas as pd
from project_copy import Project
from small_data import random_multilabel

from xmlc.data.writer import save_repository
from xmlc.suite.files import sha256

SET = "small-set"
MODEL = f"results/{SET}/plt/seed0/80"
#: Files and folders of each step, in the order in which the steps run.
STEPS = {
    "download": (f"resources/{SET}",),
    "prepare": (f"results/{SET}/data", f"results/{SET}/statistics.json"),
    "train": (f"{MODEL}/model", f"{MODEL}/train.json"),
    "estimate": (f"{MODEL}/spe",),
    "thresholds": (f"{MODEL}/thresholds", f"{MODEL}/evaluation"),
    "table": ("results/tables",),
}
MADE = ("resources", "results", "logs")
FEW = {
    "datasets": [SET],
    "tables": ["table2"],
    "figures": [],
    "measures": [],
    "methods": ["sto"],
    "seeds": [0],
}


class SmallRun(Project):
    """Provide a copy of the project whose demo is one model on a set of a mirror, with thresholds
    and a table.
    """

    def __init__(self, folder):
        super().__init__(folder)
        self.edit_yaml("config/demo.yaml", lambda content: content.update(FEW))
        self.edit_yaml("config/demo.yaml", lambda content: content.pop("inference"))
        self.without_models("demo", ["oracle"])
        X, Y = random_multilabel(300, 40, 12)
        save_repository(folder / f"mirror/{SET}/train.txt", X, Y)
        save_repository(folder / f"mirror/{SET}/test.txt", X[:100], Y[:100])
        self.words = ("demo", "--config", "mirror=mirror", "threads=1")

    def finish(self):
        """Run the workflow to the end and return its output."""
        return self.run_well(*self.words)

    def seconds(self):
        """Run the workflow from the beginning with compiled kernels, and return its wall time in
        seconds.
        """
        while True:
            compiled = self.kernels()
            begun = time.monotonic()
            self.unmake()
            self.finish()
            if self.kernels() == compiled:
                return time.monotonic() - begun

    def kernels(self):
        """Return the files of compiled kernels."""
        return sorted(Path(self.environment["NUMBA_CACHE_DIR"]).glob("kernels-*/**/*"))

    def unmake(self, first="download"):
        """Remove the files of a step and all later steps.

        For the first step, remove all files of any run.
        """
        steps = list(STEPS)
        for name in chain.from_iterable(STEPS[step] for step in steps[steps.index(first) :]):
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if first == "download":
            for name in ("resources", "logs", ".snakemake", f"results/{SET}"):
                shutil.rmtree(self.folder / name, ignore_errors=True)

    def unlock(self):
        """Remove the lock of a killed run."""
        self.run_well("--unlock", *self.words)

    def begin(self):
        """Start a run in the background, in a new process group."""
        return subprocess.Popen(
            self.command(*self.words),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def files(self):
        """Return the names of all files that runs made, including hidden files."""
        names = set()
        for top in MADE:
            for path in (self.folder / top).rglob("*"):
                if path.is_file():
                    names.add(path.relative_to(self.folder).as_posix())
        return {name for name in names if not name.startswith("results/published/")}

    def arrays(self):
        """Return the digest of each array that has its final name. Keys are the names."""
        return {
            name: sha256(self.folder / name)
            for name in self.files()
            if name.endswith(".npy") and not hidden(name)
        }

    def outcome(self):
        """Return the files, arrays and tables, which are the same after every finished run."""
        return self.files(), self.arrays(), self.tables()

    def check_whole(self, arrays):
        """Check that every file with a final name is complete."""
        assert self.arrays().items() <= arrays.items()
        for name in self.files():
            if not hidden(name) and name.endswith(".json"):
                json.loads((self.folder / name).read_text())
        for name in self.folder.glob("results/tables/demo/*.csv"):
            pd.read_csv(name)

    def ended(self):
        """Return the files of jobs that Snakemake has noted as finished, with their inodes.

        A rebuilt file has another inode.
        """
        snakemake = self.folder / ".snakemake"
        unfinished = {note.name for note in (snakemake / "incomplete").glob("*")}
        jobs = {}
        for note in (snakemake / "metadata").glob("*"):
            try:
                log = tuple(json.loads(note.read_text())["log"])
            except ValueError:
                continue  # The note is incomplete, because the run was killed.
            jobs.setdefault(log, {})[note.name] = urlsafe_b64decode(note.name).decode()
        made = {}
        for notes in jobs.values():
            for name in notes.values():
                path = self.folder / name
                if path.exists() and not unfinished & set(notes):
                    made[name] = path.lstat().st_ino
        return made


def hidden(name):
    """Return whether a file, or a folder of its path, belongs to Snakemake or has a temporary
    name.
    """
    return any(part.startswith(".") for part in name.split("/"))
