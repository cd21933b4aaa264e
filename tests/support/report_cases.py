"""Provide hand-made records, small enough to compute every table by hand."""

import json
from itertools import product

from xmlc.core.checksums import stamped

GRID = (2, 10, 100)
SET_METRICS = (
    "macro_f",
    "macro_f_zero",
    "macro_f_present",
    "macro_f_seen",
    "micro_f",
    "instance_f",
    "hamming_loss",
)
MEASURES = tuple(
    f"{average}_{name}"
    for average, name in product(("macro", "micro", "instance"), ("f", "f2", "jaccard"))
)

TRAINED = dict.fromkeys(("train_seconds", "train_threads", "train_peak_bytes", "model_bytes"))


def dataset(name="yeast", digest=None):
    counts = {"n_train": 1500, "n_test": 917, "d": 103, "m": 14}
    averages = {"labels_per_instance": 4.24, "instances_per_label": 453.64}
    digest = digest or name.encode().hex().ljust(64, "0")[:64]
    return {"digest": digest, "name": name} | counts | averages


def record_of(kind, name, model, seed, **content):
    """Return a record with the keys that records of all kinds have."""
    shared = {"kind": kind, "schema": 1, "dataset": dataset(name), "model": model, "seed": seed}
    return shared | {"environment": {}} | content


def at_k(value, *measures):
    """Return measures at 1, 3 and 5. At k, each has the value divided by k."""
    return {f"{measure}@{k}": value / k for measure, k in product(measures, (1, 3, 5))}


def set_metrics(f, predicted):
    """Return measures of label sets, of which the first has the value f."""
    scores = {metric: f / (1 + i) for i, metric in enumerate(SET_METRICS)}
    return scores | {"predicted_per_instance": predicted}


def ranking(
    name="yeast", model="plt", seed=0, p1=0.75, seconds=90.0, inner_products=120.4, **changes
):
    costs = {
        "train_seconds": seconds,
        "predict_ms_per_instance": 0.0123,
        "inner_products_per_instance": inner_products,
        "model_bytes": 2_500_000,
        "train_peak_bytes": 200_000_000,
        "train_threads": 2,
        "predict_threads": 2,
        "predict_peak_bytes": None,
    }
    record = record_of("ranking", name, model, seed, hyperparameters={"arity": 16}, split="full")
    return record | {"metrics": at_k(p1, "p", "ndcg", "psp"), "costs": costs} | changes


def thresholds(name="yeast", model="plt", method="fta", seed=0, f=0.4, chosen=10, **changes):
    grid = []
    for c in GRID:
        point = {"c": c, "a": None, "b": None}
        if method.startswith("ofo"):
            point |= {"a": 1, "b": c}
        point["validation"] = {"macro_f": f + 0.1 - 0.01 * abs(c - chosen) / c}
        point["test"] = {"macro_f": f - 0.01 * (c != chosen)}
        grid.append(point)
    best = grid[GRID.index(chosen)] | {"test": set_metrics(f, 3.5)}
    costs = TRAINED | {
        "tune_seconds": 0.5,
        "test_ms_per_instance": 0.25,
        "test_inner_products_per_instance": 55.0,
        "threads": 2,
    }
    record = record_of("thresholds", name, model, seed, hyperparameters={"arity": 16}, split="80")
    return record | {"method": method, "grid": grid, "best": best, "costs": costs} | changes


def every_method(name="yeast", model="plt", seed=0, f=0.4):
    scores = {
        "fta": f,
        "sto": f - 0.05,
        "ofo": f + 0.02,
        "ofo-ab": f + 0.03,
        "fta-labelwise": f + 0.01,
    }
    return [thresholds(name, model, method, seed, score) for method, score in scores.items()]


def every_measure(name="yeast", model="plt", seed=0, shift=0.0):
    """Return one record of thresholds for each measure.

    Thresholds that are tuned for a measure have the best value of this measure.
    """
    records = []
    for own, measure in enumerate(MEASURES):
        record = thresholds(name, model, "for-" + measure.replace("_", "-"), seed)
        values = {other: 0.5 + shift - 0.01 * abs(i - own) for i, other in enumerate(MEASURES)}
        record["best"]["test"] |= values | {"predicted_per_instance": own / 2}
        records.append(record)
    return records


def inference(name="scene", model="pcc", method="gfm", seed=0, f=0.7, **changes):
    """Return a record of `xmlc infer` on samples.

    With ``finished=False``, the inference ran out of time.
    """
    metrics = set_metrics(f, 1.5)
    metrics |= {"instance_f": f, "macro_f_zero": metrics["macro_f"]}
    costs = TRAINED | {
        "draw_ms_per_instance": 0.5,
        "estimate_ms_per_instance": None,
        "infer_ms_per_instance": 0.25,
        "inference_seconds": 0.9,
        "threads": 2,
        "infer_peak_bytes": 150_000_000,
    }
    record = record_of("inference", name, model, seed, hyperparameters={"C": None}, split="full")
    record |= {"method": method, "finished": True, "time_limit": 60, "samples": 200}
    record |= {"estimates": None, "truncation_loss": None, "expected_f": f + 0.02}
    record |= {"metrics": metrics, "costs": costs} | changes
    if not record["finished"]:
        unknown = dict.fromkeys(("infer_ms_per_instance", "inference_seconds"))
        record |= {"metrics": None, "expected_f": None, "costs": costs | unknown}
    return record


def inferred_from_estimates(name="yeast", model="plt", method="gfm", seed=0, f=0.6, **changes):
    """Return a record of `xmlc thresholds --infer`."""
    record = inference(name, model, method, seed, f, split="80", samples=None)
    estimates = {
        "min_probability": 1e-4,
        "estimates_per_instance": 9.5,
        "missed_per_instance": 0.25,
    }
    record |= {"estimates": estimates, "truncation_loss": 0.001, "hyperparameters": {"arity": 16}}
    record["costs"] |= {"draw_ms_per_instance": None, "estimate_ms_per_instance": 0.125}
    return record | changes


def calibration(name="yeast", model="plt", seed=0, **changes):
    """Return a record of `xmlc thresholds` on the calibration of estimates."""
    record = record_of("calibration", name, model, seed, hyperparameters={"arity": 16}, split="80")
    record |= {"metrics": at_k(0.6, "p") | at_k(0.1, "ece"), "isotonic": at_k(0.02, "ece")}
    return record | {"costs": TRAINED} | changes


def forest(name="yeast", model="ldsm", seed=0, p1=0.6, **changes):
    """Return a record of `xmlc forest` on one, two and three trees.

    Objectives decrease level by level.
    """
    rows = []
    for n in (1, 2, 3):
        metrics = at_k(p1 + 0.05 * n, "p", "ndcg")
        rows.append({"n_trees": n, "metrics": metrics, "predict_ms_per_instance": 0.01 * n})
    objectives = []
    for tree, level in product((0, 1), (1, 2, 3)):
        row = {"tree": tree, "level": level, "nodes": 2 ** (level - 1)}
        for key, low in (("minimum", -0.5), ("mean", 0), ("maximum", 1)):
            row[key] = [low - 0.1 * level, low - 0.2 * level]
        objectives.append(row)
    given = {"arity": 2, "lambda_1": 2.0, "lambda_2": 1.0, "n_trees": 3}
    record = record_of("forest", name, model, seed, hyperparameters=given, split="full")
    record |= {"settings": {}, "rows": rows, "objectives": objectives}
    record |= {"trees": {"depths": [5, 7, 6], "nodes": [11, 13, 15]}}
    return record | {"costs": {"predict_threads": 2}} | changes


def sweep(name="yeast", model="ldsm", seed=0, p1=0.6, **changes):
    """Return a record of `xmlc sweep` over three sizes of trees."""
    rows = []
    for place, n in enumerate((16, 64, 256)):
        row = {"max_nodes": n, "metrics": at_k(p1 + 0.02 * place, "p", "ndcg")}
        rows.append(row | {"depth": 3 + 2 * place, "nodes": n, "train_seconds": 1.5})
    record = record_of("sweep", name, model, seed, hyperparameters={"arity": 2}, split="full")
    record |= {"settings": {}, "hyperparameter": "max_nodes", "rows": rows}
    return record | {"costs": {"threads": 2}} | changes


def write(folder, records):
    """Write records and return their paths in order."""
    folder.mkdir(parents=True, exist_ok=True)
    start = len(list(folder.glob("*.json")))
    paths = [folder / f"{start + i:03}.json" for i in range(len(records))]
    for path, record in zip(paths, records):
        path.write_text(json.dumps(stamped(record)))
    return paths
