"""Provide hand-made contents of further files that steps write, in addition to the records in
report_cases.
"""

from report_cases import dataset


def environment():
    versions = dict.fromkeys(("xmlc", "python", "numpy", "scipy", "numba"), "1.0")
    return versions | {
        "machine": "x86_64",
        "cpu": "a CPU",
        "threads": 2,
        "time": "2026-11-21T10:00:00Z",
    }


def step(name, **about):
    costs = {
        "seconds": 5.25,
        "peak_bytes": 123_000_000,
        "written_bytes": None,
        "threads": 2,
        "cpu": "a CPU",
    }
    return (
        {"name": name, "dataset": "yeast", "model": "plt", "split": "80", "method": None}
        | costs
        | about
    )


def training(name="yeast", model="plt", seed=0, split="80", **changes):
    """Return a record of `xmlc train`."""
    costs = {"train_seconds": 90.5, "train_cpu_seconds": 170.25, "train_threads": 2}
    costs |= {"train_peak_bytes": 200_000_000, "model_bytes": 2_500_000}
    record = {
        "dataset": dataset(name),
        "estimator": "plt",
        "model": model,
        "hyperparameters": {"arity": 16},
    }
    record |= {
        "seed": seed,
        "split": split,
        "settings": {},
        "costs": costs,
        "environment": environment(),
        "tuning": None,
    }
    return record | {"step": step("train")} | changes


def estimates(**changes):
    """Return the content of the file that `xmlc estimate` writes next to estimates."""
    parts = {"val": {"ms_per_instance": 0.5}, "test": {"ms_per_instance": 0.25}}
    content = {"min_probability": 0.001, "parts": parts, "environment": environment()}
    return content | {"step": step("estimate")} | changes


def part_statistics(instances=1500):
    """Return the statistics of one part of a dataset, as in the file of `xmlc prepare`."""
    summary = {
        "min": 0.0,
        "lower_quartile": 1.0,
        "median": 2.5,
        "upper_quartile": 4.0,
        "max": 9.0,
        "mean": 2.125,
    }
    names = (
        "labels_per_instance",
        "instances_per_label",
        "instances_per_label_seen",
        "activations_per_instance",
    )
    names += ("occurrences_per_feature_seen",)
    part = {"instances": instances} | {
        key: summary | {"max": 9.0 + place} for place, key in enumerate(names)
    }
    return part | {"labels_never_seen": 0, "features_never_seen": 0}


def statistics(name="yeast", **changes):
    """Return the statistics of a dataset, as in the file of `xmlc prepare`."""
    content = {
        "name": name,
        "digest": dataset(name)["digest"],
        "d": 103,
        "m": 14,
        "notes": ["d: found 103"],
    }
    content |= {
        "train": part_statistics(),
        "test": part_statistics(917),
        "step": step("prepare", model=None),
    }
    return content | changes


SAMPLED = ("gfm", "gfm-t", "meuf", "meuf-approx")
TIMED = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf")


def simulation(**changes):
    """Return a record of `xmlc simulate` for two sample sizes and two numbers of labels."""

    def model(optimum):
        scores = {name: optimum - 0.1 / (1 + i) for i, name in enumerate(SAMPLED)}
        methods = {
            n: {"mean": [f - 0.05, f], "standard_error": [0.01, 0.02], "limit": f}
            for n, f in scores.items()
        }
        gain = {"mean": [0.01, 0.02], "standard_error": [0.001, 0.002]}
        return {
            "optimum": optimum,
            "optimal_size": 3,
            "p_empty": 0.1,
            "methods": methods,
            "meuf_minus_gfm": gain,
        }

    ms = {name: [0.01 * (1 + i), 0.1 * (1 + i)] for i, name in enumerate(TIMED)}
    samples = {"n_samples": 200, "instances": 3, "labels": [10, 20], "ms": ms}
    growth = {"threads": 1, "rounds": 2, "samples": samples}
    content = {
        "kind": "simulation",
        "schema": 1,
        "seed": 0,
        "trials": 3,
        "labels": 25,
        "prior": 0.12,
    }
    content |= {"sample_sizes": [5, 10], "scoring": "exact"}
    content |= {
        "models": {name: model(0.2 * (1 + i)) for i, name in enumerate(MODELS)},
        "growth": growth,
    }
    return (
        content
        | {"environment": environment(), "step": step("simulate"), "paired_trials": 40}
        | changes
    )


MODELS = ("independent", "dependent", "dependent-signed")


def progressive(name="aloi", model="oplt-b-1-pass", seed=0, **changes):
    """Return a record of `xmlc progressive` with two checkpoints, the first without an entropy
    reduction.
    """
    rows = [
        {"instances": n, "accuracy": p, "entropy_reduction": bits}
        for n, p, bits in ((1, 0.0, None), (10, 0.5, 2.0))
    ]
    record = {
        "kind": "progressive",
        "schema": 1,
        "dataset": dataset(name),
        "estimator": "oplt",
        "model": model,
    }
    record |= {
        "hyperparameters": {"arity": 2},
        "seed": seed,
        "split": "full",
        "settings": {},
        "constant_accuracy": 0.125,
    }
    costs = {"cpu_seconds": 1.5, "threads": 2, "peak_bytes": 123_000_000}
    return (
        record
        | {"rows": rows, "costs": costs, "environment": environment(), "step": step("progressive")}
        | changes
    )


def whole(record, behind=()):
    """Return a case of report_cases as its step writes it: all keys in order, with the keys in
    ``behind`` last.
    """
    about = training(split=record["split"])
    record = (
        about | record | {"costs": about["costs"] | record["costs"], "environment": environment()}
    )
    order = ["kind", "schema", *training(), *behind]
    assert set(order) == set(record)
    return {key: record[key] for key in order}


TRIAL = {"hyperparameters": {"S": 25}, "p@1": 0.5, "p@3": 0.375, "p@5": 0.25, "train_seconds": 1.5}
TRIAL |= {"paired_errors": []}


def search(name="yeast", **changes):
    """Return a record of `xmlc tune` with two trials."""
    trials = [TRIAL, TRIAL | {"p@1": 0.625, "paired_errors": [0.01]}]
    content = {
        "kind": "search",
        "schema": 1,
        "dataset": dataset(name),
        "estimator": "swnn",
        "method": "stages",
        "budget": 2,
        "chosen_by": "P@1",
        "space": [[{"S": 25}]],
        "fixed": {},
        "at_most": {"fitted": None, "validated": None},
        "seed": 0,
        "after": None,
        "best": trials[1],
        "trials": trials,
        "instances": 300,
        "environment": environment(),
    }
    return content | changes
