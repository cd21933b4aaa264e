"""A copy of the project in a folder of its own, with a tiny demo, and how to run its workflow."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import yaml
from repository import ROOT

from xmlc.core.kernel_cache import kernel_folder
from xmlc.suite.results.columns import COLUMNS

COPIED = ("Snakefile", "config", "workflow", "profiles", "xmlc", "results/published")
STEPS = re.compile(r"^([a-z][\w-]*) +(\d+)$", re.MULTILINE)  # of Snakemake's table of jobs
TINY = {"n_train": 300, "n_test": 120, "n_features": 200, "n_labels": 30, "labels_per_instance": 2.0, "nonzeros": 20}


class Project:
    """A copy of the project whose demo is tiny."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        self.edit_yaml("config/datasets.yaml", lambda content: content["demo"].update(synthetic=TINY))
        few = {"methods": ["fta", "sto", "ofo-ab"], "measures": ["instance-f"]}
        few["inference"] = {"portion": "80", "methods": {"plt": ["gfm"]}}
        self.edit_yaml("config/demo.yaml", lambda content: content.update(few))
        # The forest has a run of its own, on a set of a mirror; here it would cost a compilation for nothing.
        self.edit_yaml("config/demo.yaml", lambda content: content["models"].pop("fastxml"))
        self.edit_yaml("config/papers/plt2016.yaml", lambda content: content.update(few))
        self.edit_yaml(
            "config/papers/plt2016.yaml",
            lambda content: content["models"]["fastxml"]["hyperparameters"].update(n_trees=3),
        )
        # Further models of that paper have nothing to add that a run would show.
        for paper, left_out in (("plt2016", ("plt-hashed", "swnn", "ldsm-mean")), ("ldsm2020", ("swnn",))):
            for name in left_out:
                self.edit_yaml(f"config/papers/{paper}.yaml", lambda content, name=name: content["models"].pop(name))
        # Its methods have tests of their own; here each would be a compilation.
        one = {"methods": {"pcc": ["gfm"], "br": ["gfm"]}}
        self.edit_yaml("config/papers/gfm2011.yaml", lambda content: content["inference"].update(one))
        path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        self.environment = os.environ | {"PYTHONPATH": path}
        self.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        # Named after the content of their files, all kernels are kept with the project's own and compiled once.
        self.environment["NUMBA_CACHE_DIR"] = str(kernel_folder().parent)

    @contextmanager
    def restored(self, *names):
        """Put files back as they were."""
        before = {name: (self.folder / name).read_text() for name in names}
        try:
            yield
        finally:
            for name, text in before.items():
                (self.folder / name).write_text(text)

    def edit_yaml(self, name, change):
        path = self.folder / name
        content = yaml.safe_load(path.read_text())
        change(content)
        path.write_text(yaml.safe_dump(content))

    def command(self, *arguments):
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]

    def run(self, *arguments):
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=900
        )

    def run_well(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def xmlc(self, *arguments):
        """Run a command of the copy's own package."""
        command = [sys.executable, "-c", "from xmlc.cli import main; main()", *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def planned(self, target="demo", *arguments):
        """Number of jobs that each rule would run."""
        steps = dict(STEPS.findall(self.run_well("--dry-run", target, *arguments)))
        steps.pop("total", None)
        return {rule: int(count) for rule, count in steps.items()}

    def planned_after_an_edit(self, name, *arguments):
        """Number of jobs of the demo that each rule would run with another line of code in a file."""
        with self.restored(name):
            with (self.folder / name).open("a") as file:
                file.write("\nEDITED = True\n")
            return self.planned("demo", *arguments)

    def tables(self):
        """The columns that no clock made, of every table."""
        frames = {file.name: pd.read_csv(file) for file in sorted(self.folder.glob("results/tables/demo/*.csv"))}
        return {
            name: frame[[c for c in frame if not (c in COLUMNS and COLUMNS[c].cost)]].to_csv()
            for name, frame in frames.items()
        }


def finished_demo(folder):
    """Return a copy of the project in which the demo has run."""
    project = Project(folder)
    project.run_well("demo")
    return project
