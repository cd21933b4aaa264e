"""Compile the demo's kernels, run its steps on a few instances, and print the kernels that only a
step compiled.

This script runs in a separate process. A kernel that another test compiled would otherwise be
missing from the output.
"""

import gc
import json
import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from xmlc.cli import main
from xmlc.suite.config.suite import read_suite

SIZES = {
    "n_train": 200,
    "n_test": 80,
    "n_features": 150,
    "n_labels": 25,
    "labels_per_instance": 2,
    "nonzeros": 20,
}


def compiled():
    """Return the names of all kernels compiled so far, with the types of their arguments."""
    kernels = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {
        f"{kernel.py_func.__module__}.{kernel.py_func.__name__}{types}"
        for kernel in kernels
        for types in kernel.overloads
    }


def run(command):
    """Run a command of xmlc, given as one line."""
    try:
        main(command.split())
    except SystemExit as stop:
        if stop.code:
            raise


def make_data():
    """Make and prepare a synthetic dataset in the current folder."""
    catalogue = {"demo": {"synthetic": {"kind": "subjects", **SIZES}}}
    Path("made.yaml").write_text(json.dumps(catalogue))
    run("synth demo --catalogue made.yaml --out made --threads 2")
    run("prepare demo --source made --out data --statistics statistics.json")


def run_steps(suite, name, estimator, hyperparameters):
    """Run the workflow's steps with one model, and two threads like many jobs."""
    values = json.dumps(hyperparameters, separators=(",", ":"))
    about = f"--name {name} --estimator {estimator} --parameters {values} --part fit"
    run(f"train --data data {about} --out {name} --record {name}.json --threads 2")
    common = f"--data data --training {name}.json --threads 2"
    run(f"rank {common} --model {name} --out ranking")
    run("score --data data --ranking ranking --out ranking.json")
    estimates = f"{name}.spe"
    run(f"estimate {common} --model {name} --min-probability 0.0001 --out {estimates}")
    thresholds = " ".join([*suite.methods, *suite.measure_methods])
    tuned = f"--model {name} --estimates {estimates} --out {name}-thresholds"
    run(f"thresholds {thresholds} {common} {tuned}")
    inference = set()
    for model in suite.models:
        inference |= set(suite.inferred(model))
    methods = " ".join(f"--method {method}" for method in sorted(inference))
    run(f"infer {methods} {common} --from {estimates} --out inferred")


if __name__ == "__main__":
    demo = read_suite(Path(sys.argv[1]))
    run(f"compile {sys.argv[1]}")
    before = compiled()
    assert len(before) > 30
    make_data()
    for name, model in demo.models.items():
        run_steps(demo, name, model.estimator, model.hyperparameters)
    print(json.dumps(sorted(compiled() - before)))
