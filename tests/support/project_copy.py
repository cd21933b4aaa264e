"""Copy the project to a separate folder, with a tiny demo, and run its workflow."""

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
# A dry run ends with this line.
COUNTS = re.compile(r"^[\d,]+ jobs? would run: (.*)$", re.MULTILINE)


def counts_of(said):
    """Return the number of jobs of each rule in the output of a dry run."""
    pairs = []
    for line in COUNTS.findall(said):
        for job in line.split(", "):
            pairs.append(job.split(" "))
    return {rule: int(count) for count, rule in pairs}


def snakemake(folder, *arguments):
    """Return what Snakemake prints in a folder outside the project."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


TINY = {
    "n_train": 300,
    "n_test": 120,
    "n_features": 200,
    "n_labels": 30,
    "labels_per_instance": 2.0,
    "nonzeros": 20,
}


FEW = {
    "methods": ["fta", "sto", "ofo-ab"],
    "measures": ["instance-f"],
    "inference": {"split": "80", "methods": {"plt": ["gfm"]}},
}
# Runs of these models would not test anything else.
LEFT_OUT = {
    "demo": ("one-vs-rest", "stacking"),
    "papers/plt2016": ("plt-hashed", "swnn", "ldsm-mean"),
    "papers/ldsm2020": ("swnn",),
}
# Each method of this paper would cost a compilation. Other tests run the other methods.
ONE_METHOD = {"pcc": ["gfm"], "br": ["gfm"]}


class Project:
    """Provide a copy of the project with a tiny demo."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        self.make_small()
        path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = os.environ | {
            "PYTHONPATH": path,
            "PATH": programs,
            # Kernels are named after the content of their files, so the copy can share the
            # project's compiled kernels.
            "NUMBA_CACHE_DIR": str(kernel_folder().parent),
        }

    def make_small(self):
        def change(name, *keys, **values):
            """Change some keys of a part of a configuration file."""

            def update(content):
                for key in keys:
                    content = content[key]
                content.update(values)

            self.edit_yaml(f"config/{name}.yaml", update)

        change("datasets", "demo", synthetic=TINY)
        change("demo", **FEW)
        change("papers/plt2016", **FEW)
        change("papers/plt2016", "models", "fastxml", "hyperparameters", n_trees=3)
        change("papers/gfm2011", "inference", methods=ONE_METHOD)
        for name, models in LEFT_OUT.items():
            self.without_models(name, models)

    def without_models(self, name, models):
        def remove(content):
            for model in models:
                del content["models"][model]

        self.edit_yaml(f"config/{name}.yaml", remove)

    @contextmanager
    def restored(self, *names):
        """Restore the files with these names after the block."""
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
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )

    def run_well(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def xmlc(self, *arguments):
        """Run a command of the package in the copy."""
        command = [sys.executable, "-c", "from xmlc.cli import main; main()", *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def planned(self, target="demo", *arguments):
        """Return the number of jobs that each rule would run."""
        return counts_of(self.run_well("--dry-run", target, *arguments))

    def planned_after_an_edit(self, name, *arguments):
        """Return the number of the demo's jobs that each rule would run if a file had another line
        of code.
        """
        with self.restored(name):
            with (self.folder / name).open("a") as file:
                file.write("\nEDITED = True\n")
            return self.planned("demo", *arguments)

    def tables(self):
        """Return every table without its cost columns."""
        costs = [name for name, column in COLUMNS.items() if column.cost]
        found = {}
        for file in self.folder.glob("results/tables/demo/*.csv"):
            found[file.name] = pd.read_csv(file).drop(columns=costs, errors="ignore").to_csv()
        return found


def finished_demo(folder):
    """Return a copy of the project with a finished demo."""
    project = Project(folder)
    project.run_well("demo")
    return project
