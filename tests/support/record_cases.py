"""Provide hand-made contents of further files that steps write, in addition to the records in
report_cases.
"""

from report_cases import dataset


def environment():
    versions = dict.fromkeys(("xmlc", "python", "numpy", "scipy", "numba"), "1.0")
    machine = {"machine": "x86_64", "cpu": "a CPU", "threads": 2, "time": "2026-11-21T10:00:00Z"}
    return versions | machine


def step(name, **about):
    content = {"name": name, "dataset": "yeast", "model": "plt", "split": "80", "method": None}
    content |= {"seconds": 5.25, "peak_bytes": 123_000_000, "written_bytes": None}
    return content | {"threads": 2, "cpu": "a CPU"} | about


def made_by(name, **about):
    """Return the keys that describe the run of a step."""
    return {"environment": environment(), "step": step(name, **about)}


def training(name="yeast", model="plt", seed=0, split="80", **changes):
    """Return a record of `xmlc train`."""
    costs = {"train_seconds": 90.5, "train_cpu_seconds": 170.25, "train_threads": 2}
    costs |= {"train_peak_bytes": 200_000_000, "model_bytes": 2_500_000}
    record = {"dataset": dataset(name), "estimator": "plt", "model": model}
    record |= {"hyperparameters": {"arity": 16}, "seed": seed, "split": split, "settings": {}}
    record |= {"costs": costs, "environment": environment(), "tuning": None}
    return record | {"step": step("train")} | changes


def estimates(**changes):
    """Return the content of the file that `xmlc estimate` writes next to estimates."""
    parts = {"val": {"ms_per_instance": 0.5}, "test": {"ms_per_instance": 0.25}}
    return {"min_probability": 0.001, "parts": parts} | made_by("estimate") | changes


SUMMARIES = (
    "labels_per_instance",
    "instances_per_label",
    "instances_per_label_seen",
    "activations_per_instance",
    "occurrences_per_feature_seen",
)


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
    part = {"instances": instances}
    for place, key in enumerate(SUMMARIES):
        part[key] = summary | {"max": 9.0 + place}
    return part | {"labels_never_seen": 0, "features_never_seen": 0}


def statistics(name="yeast", **changes):
    """Return the statistics of a dataset, as in the file of `xmlc prepare`."""
    content = {"name": name, "digest": dataset(name)["digest"], "d": 103, "m": 14}
    content |= {"notes": ["d: found 103"], "train": part_statistics(), "test": part_statistics(917)}
    return content | {"step": step("prepare", model=None)} | changes


SAMPLED = ("gfm", "gfm-t", "meuf", "meuf-approx")
TIMED = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf")
MODELS = ("independent", "dependent", "dependent-signed")


def simulated(optimum):
    """Return the results of a simulated model."""
    methods = {}
    for i, name in enumerate(SAMPLED):
        f = optimum - 0.1 / (1 + i)
        methods[name] = {"mean": [f - 0.05, f], "standard_error": [0.01, 0.02], "limit": f}
    gain = {"mean": [0.01, 0.02], "standard_error": [0.001, 0.002]}
    model = {"optimum": optimum, "optimal_size": 3, "p_empty": 0.1}
    return model | {"methods": methods, "meuf_minus_gfm": gain}


def simulation(**changes):
    """Return a record of `xmlc simulate` for two sample sizes and two numbers of labels."""
    ms = {name: [0.01 * (1 + i), 0.1 * (1 + i)] for i, name in enumerate(TIMED)}
    samples = {"n_samples": 200, "instances": 3, "labels": [10, 20], "ms": ms}
    content = {"kind": "simulation", "schema": 1, "seed": 0, "trials": 3, "labels": 25}
    content |= {"prior": 0.12, "sample_sizes": [5, 10], "scoring": "exact"}
    content["models"] = {name: simulated(0.2 * (1 + i)) for i, name in enumerate(MODELS)}
    content["growth"] = {"threads": 1, "rounds": 2, "samples": samples}
    return content | made_by("simulate") | {"paired_trials": 40} | changes


def progressive(name="aloi", model="oplt-b-1-pass", seed=0, **changes):
    """Return a record of `xmlc progressive` with two checkpoints, the first without an entropy
    reduction.
    """
    rows = [
        {"instances": 1, "accuracy": 0.0, "entropy_reduction": None},
        {"instances": 10, "accuracy": 0.5, "entropy_reduction": 2.0},
    ]
    record = {"kind": "progressive", "schema": 1, "dataset": dataset(name), "estimator": "oplt"}
    record |= {"model": model, "hyperparameters": {"arity": 2}, "seed": seed, "split": "full"}
    record |= {"settings": {}, "constant_accuracy": 0.125, "rows": rows}
    record["costs"] = {"cpu_seconds": 1.5, "threads": 2, "peak_bytes": 123_000_000}
    return record | made_by("progressive") | changes


def whole(record, behind=()):
    """Return a case of report_cases as its step writes it: all keys in order, with the keys in
    ``behind`` last.
    """
    about = training(split=record["split"])
    costs = about["costs"] | record["costs"]
    record = about | record | {"costs": costs, "environment": environment()}
    order = ["kind", "schema", *training(), *behind]
    assert set(order) == set(record)
    return {key: record[key] for key in order}


TRIAL = {"hyperparameters": {"S": 25}, "p@1": 0.5, "p@3": 0.375, "p@5": 0.25, "train_seconds": 1.5}
TRIAL |= {"paired_errors": []}


def search(name="yeast", **changes):
    """Return a record of `xmlc tune` with two trials."""
    best = TRIAL | {"p@1": 0.625, "paired_errors": [0.01]}
    content = {"kind": "search", "schema": 1, "dataset": dataset(name), "estimator": "swnn"}
    content |= {"method": "stages", "budget": 2, "chosen_by": "P@1", "space": [[{"S": 25}]]}
    content |= {"fixed": {}, "at_most": {"fitted": None, "validated": None}, "seed": 0}
    content |= {"after": None, "best": best, "trials": [TRIAL, best], "instances": 300}
    return content | {"environment": environment()} | changes
