"""Compile the demo's parts, run its steps on a few instances, and print the kernels that only a
step compiled.

This script runs in a separate process. A kernel that another test compiled would otherwise be
missing from the output.
"""

import gc
import json
import sys
from itertools import chain
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from xmlc.cli import main
from xmlc.suite.config.suite import read_suite
from xmlc.suite.steps.compile import kernels_of


def compiled():
    """Return the names of all kernels compiled so far, with the types of their arguments."""
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {
        f"{one.py_func.__module__}.{one.py_func.__name__}{types}"
        for one in found
        for types in one.overloads
    }


def run(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        if stop.code:
            raise


def run_steps(suite, folder):
    """Run the workflow's steps on a synthetic dataset.

    Steps with an option for threads use two, like many jobs.
    """
    sizes = {
        "n_train": 200,
        "n_test": 80,
        "n_features": 150,
        "n_labels": 25,
        "labels_per_instance": 2,
        "nonzeros": 20,
    }
    made = {"demo": {"synthetic": {"kind": "subjects", **sizes}}}
    (folder / "made.yaml").write_text(json.dumps(made))
    run(
        "synth",
        "demo",
        "--catalogue",
        folder / "made.yaml",
        "--out",
        folder / "resources",
        "--threads",
        2,
    )
    data = ("--data", folder / "data")
    out = ("--out", data[1], "--statistics", folder / "statistics.json")
    run("prepare", "demo", "--source", folder / "resources", *out)
    inferring = sorted(set(chain.from_iterable(map(suite.inferred, suite.models))))
    named = []
    for method in inferring:
        named += ("--method", method)
    models = {
        name: (model.estimator, model.hyperparameters) for name, model in suite.models.items()
    }
    for name, (estimator, hyperparameters) in {**models, "oracle": ("oracle", {})}.items():
        model = folder / name
        record = folder / f"{name}.json"
        about = (
            "--name",
            name,
            "--estimator",
            estimator,
            "--parameters",
            json.dumps(hyperparameters),
        )
        run(
            "train",
            *data,
            *about,
            "--part",
            "fit",
            "--out",
            model,
            "--record",
            record,
            "--threads",
            2,
        )
        common = (*data, "--training", record, "--threads", 2)
        run("rank", *common, "--model", model, "--out", folder / "ranking")
        run("score", *data, "--ranking", folder / "ranking", "--out", folder / "ranking.json")
        spe = folder / f"{name}.spe"
        run("estimate", *common, "--model", model, "--min-probability", 0.0001, "--out", spe)
        methods = [*suite.methods, *suite.measure_methods]
        run(
            "thresholds",
            *methods,
            *common,
            "--model",
            model,
            "--estimates",
            spe,
            "--out",
            folder / name,
        )
        run("infer", *named, *common, "--from", spe, "--out", folder / "inferred")


if __name__ == "__main__":
    demo = read_suite(Path(sys.argv[1]))
    for compile_group in kernels_of(demo).values():
        compile_group()
    before = compiled()
    assert len(before) > 30
    run_steps(demo, Path(sys.argv[2]))
    print(json.dumps(sorted(compiled() - before)))
