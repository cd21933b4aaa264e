"""Tables of every suite; a table of a paper's own with the same name takes precedence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.papers.gfm2011.tables import (
    INFERENCE_KEYS,
    INSTANCE_F_CONVENTION,
    PRINTED,
    THRESHOLD,
    timeout_notes,
    with_method_titles,
)
from xmlc.papers.oplt2021.tables import passes as passes
from xmlc.papers.plt2016.tables import measures as measures
from xmlc.papers.plt2016.tables import table1 as table1
from xmlc.papers.plt2016.tables import table2 as table2
from xmlc.papers.plt2016.tables import table3 as table3
from xmlc.papers.plt2016.tables import table4 as table4
from xmlc.papers.tables.columns import DEVIATION, MISSING
from xmlc.papers.tables.table import (
    Panel,
    PanelColumn,
    Published,
    Table,
    average_seeds,
    csv_frame,
    notes,
    side_by_side,
    table,
    undefined_note,
)
from xmlc.papers.tables.titles import MACRO_F_CONVENTION, method_title, model_title, step_title
from xmlc.records.inference import ESTIMATES, InferenceRecord
from xmlc.records.inference import frame as inference_frame
from xmlc.records.ranking import RankingRecord
from xmlc.records.ranking import frame as ranking_frame
from xmlc.records.step import EVERY, StepRecord
from xmlc.records.step import frame as step_frame
from xmlc.records.thresholds import ThresholdRecord
from xmlc.records.thresholds import frame as threshold_frame
from xmlc.suites.needs import BEST_INSTANCE_F, INFERRED_FROM_ESTIMATES, PEER_RANKINGS, PEER_THRESHOLDS, STEPS
from xmlc.suites.suite import ModelSpec, Suite


@table("instance-f", INFERENCE_KEYS, INFERRED_FROM_ESTIMATES, BEST_INSTANCE_F)
def instance_f(
    paper: str, records: Sequence[InferenceRecord], published: Published, thresholds: Sequence[ThresholdRecord]
) -> Table:
    """Build the table of instance-F from sparse estimates: inferring for each instance, against one best threshold.

    Raises
    ------
    XmlcError
        No record has estimates with a floor.
    """
    records = [record for record in records if record.estimates is not None]
    if not records:
        raise XmlcError(
            "instance-f: no record is of estimates with a floor; expected those of `xmlc thresholds --infer`"
        )
    inferred = average_seeds(inference_frame(records), INFERENCE_KEYS)
    averaged = _beside(inferred, [record for record in thresholds if record.method == THRESHOLD])
    others = ("micro_f", "macro_f", "hamming_loss", "inference_threads", *ESTIMATES, "m", "note")
    frame = csv_frame(averaged, INFERENCE_KEYS, (*PRINTED, *others))
    panels = [_of_model(model, frame[frame["model"] == model], published) for model in frame["model"].unique()]
    estimated = inferred.drop_duplicates(["dataset", "model"])
    about = [side_by_side(estimated, published, name, contest="") for name in ("m", *ESTIMATES)]
    panels.append(Panel("Estimates that they are inferred from", estimated, ("dataset", "model"), about))
    caption = (
        "Instance-F on the test set of label sets that are inferred for each instance from a model's sparse estimates, "
        "taken as marginals of independent labels, beside the one threshold for all labels that has the highest "
        f"instance-F on the validation set. {INSTANCE_F_CONVENTION} Expected F is the F-measure that a method expects "
        "under the model's distribution. Inferring is the time of finding the label sets from the estimates; a "
        "threshold takes no time of its own. Models are trained on 80 % of the training set. A label without an "
        "estimate counts as one that an instance cannot have; the last panel says how many true labels that concerns. "
        "The loss of an exact maximiser in expected F is bounded, provided that no such label is more probable than "
        "the floor. GFM with sizes learned takes labels as independent but for their number, whose distribution it "
        "learns from the validation set; that is not in gfm2011."
    )
    threads = [record.costs.threads for record in records]
    footnotes = notes(paper, records, threads, panels, best_of="each model and dataset") + timeout_notes(records)
    return Table("instance-f", paper, INFERENCE_KEYS, frame, caption, panels, footnotes)


def _beside(inferred: pd.DataFrame, thresholds: Sequence[ThresholdRecord]) -> pd.DataFrame:
    """Put the best threshold's row before the inferred ones of the same dataset and model."""
    if not thresholds:
        return inferred
    names = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}
    best = average_seeds(threshold_frame(thresholds), INFERENCE_KEYS).rename(columns=names)
    pairs = list(dict.fromkeys(inferred[["dataset", "model"]].itertuples(index=False, name=None)))
    places = {pair: place for place, pair in enumerate(pairs)}
    both = pd.concat([best, inferred], ignore_index=True)
    both["place"] = [places.get(pair) for pair in both[["dataset", "model"]].itertuples(index=False, name=None)]
    return both.dropna(subset="place").sort_values("place", kind="stable").drop(columns="place")


def _of_model(model: str, rows: pd.DataFrame, published: Published) -> Panel:
    """Return one model's rows; the best is sought among measurements on the test set."""
    columns = [side_by_side(rows, published, name, contest=name if name == "instance_f" else "") for name in PRINTED]
    return Panel(model_title(model), with_method_titles(rows), ("dataset", "method"), columns)


PEER_KEYS = ("dataset", "model")
QUALITY = ("p@1", "p@3", "p@5")
TUNED = ("fta", "sto", "ofo")
COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb", "predict_peak_mb")
THREADS = ("train_threads", "predict_threads")
PROPENSITY_SCORED = ("psp@1", "psp@3", "psp@5")
NOT_RUN = "it was not run (it needs the extra `peers`)"


@table("peers", PEER_KEYS, PEER_RANKINGS, PEER_THRESHOLDS, takes_suite=True)
def peers(
    paper: str,
    records: Sequence[RankingRecord],
    published: Published,
    thresholds: Sequence[ThresholdRecord],
    suite: Suite | None = None,
) -> Table:
    """Build the table of peers from records of rankings and thresholds, and from the suite."""
    known = suite.peers if suite else {}
    frame = average_seeds(ranking_frame(records), PEER_KEYS)
    frame = _with_missing(_with_macro_f(frame, thresholds), known)
    frame = csv_frame(frame, PEER_KEYS, (*QUALITY, *TUNED, *COSTS, *THREADS, *PROPENSITY_SCORED, "note"))
    columns = [side_by_side(frame, published, name) for name in QUALITY]
    columns += [_macro_f_column(frame, published, name) for name in TUNED if frame[name].notna().any()]
    columns += [side_by_side(frame, published, name) for name in COSTS]
    if frame["train_threads"].equals(frame["predict_threads"]):
        columns.append(side_by_side(frame, published, "train_threads", heading="Threads"))
    else:
        columns += [side_by_side(frame, published, name) for name in THREADS]
    run = frame[frame["p@1"].notna()].reset_index(drop=True)
    scored = [side_by_side(run, published, name) for name in PROPENSITY_SCORED]
    panels = [
        Panel("Quality and cost", frame, PEER_KEYS, columns),
        Panel("Propensity-scored precision", run, PEER_KEYS, scored),
    ]
    caption = (
        "Our models and baselines on the same data and machine. Precision@k and costs are those of training "
        "on the whole training set and of predicting the five best labels of each test instance; times contain what "
        "a program needs to take the data from Python. MB are 10^6 bytes; a model's size is that of its files; threads "
        "are those that a program was given; peaks are of the whole process, Python included. "
        "Macro-F is reached with the thresholds of FTA, STO and OFO. "
        f"{MACRO_F_CONVENTION.replace('Models are', 'For macro-F, models are')}"
    )
    footnotes = notes(paper, records, (), panels) + undefined_note(thresholds) + _about(frame, known)
    return Table("peers", paper, PEER_KEYS, frame, caption, panels, footnotes)


def _macro_f_column(frame: pd.DataFrame, published: Published, method: str) -> PanelColumn:
    heading = f"Macro-F, {method_title(method)} (%)"
    return side_by_side(frame, published, method, heading=heading, contest="macro_f")


def _with_macro_f(frame: pd.DataFrame, thresholds: Sequence[ThresholdRecord]) -> pd.DataFrame:
    """Add one column of macro-F for each threshold method; missing where there is no record."""
    records = [record for record in thresholds if record.method in TUNED]
    averaged = average_seeds(threshold_frame(records), (*PEER_KEYS, "method")) if records else pd.DataFrame()
    for method in TUNED:
        if averaged.empty or (rows := averaged[averaged["method"] == method]).empty:
            frame = frame.assign(**{method: float("nan")})
            continue
        names = {name + end: method + end for name in ("macro_f",) for end in ("", DEVIATION) if name + end in rows}
        frame = frame.merge(rows[[*PEER_KEYS, *names]].rename(columns=names), how="left", on=list(PEER_KEYS))
    return frame


def _with_missing(frame: pd.DataFrame, peers: dict[str, ModelSpec]) -> pd.DataFrame:
    """Add a row, with the reason as its note, for each peer of the suite that has no record of a dataset."""
    rows: list[tuple[str, str]] = []
    for dataset, models in frame.groupby("dataset", sort=False)["model"]:
        rows += [(dataset, model) for model in [*models[~models.isin(list(peers))], *peers]]
    found = frame.assign(note=None).set_index(list(PEER_KEYS))
    whole = found.reindex(pd.MultiIndex.from_tuples(rows, names=PEER_KEYS))
    for dataset, model in whole.index.difference(found.index):
        whole.loc[(dataset, model), "note"] = peers[model].without.get(dataset, NOT_RUN)
    whole["seeds"] = whole["seeds"].fillna(0).astype(int)
    return whole.reset_index()


def _about(frame: pd.DataFrame, peers: dict[str, ModelSpec]) -> list[str]:
    """Name peers that are missing, have no thresholds, or were not tuned."""
    shown = {name: peer for name, peer in peers.items() if (frame["model"] == name).any()}
    missing = frame[frame["note"].notna()]
    lines = [f"{model_title(row.model)} is missing on {row.dataset}: {row.note}." for row in missing.itertuples()]
    lines += [f"{model_title(name)} has no macro-F: {p.ranks_only}." for name, p in shown.items() if p.ranks_only]
    untuned = [f"{model_title(name)} ({peer.untuned})" for name, peer in shown.items() if peer.untuned]
    return lines + (["Not tuned: " + "; ".join(untuned) + "."] if untuned else [])


STEP_KEYS = ("dataset", "model", "step")
GROWING = ("step_seconds", "cpu_seconds", "step_peak_mb", "disk_mb")
RATIO = "_growth"
TOTAL = "all steps"


@table("scale", STEP_KEYS, STEPS)
def scale(paper: str, records: Sequence[StepRecord], published: Published) -> Table:
    """Build the table of steps: seconds, memory, disk and threads of each, and growth from the first dataset on."""
    steps = step_frame(records).assign(step=[step_title(record.step) for record in records])
    averaged = average_seeds(steps, STEP_KEYS)
    parts = [pd.concat([rows, _total(rows)]) for _, rows in averaged.groupby("dataset", sort=False)]
    whole = with_growth(pd.concat(parts, ignore_index=True))
    grown = [name + RATIO for name in GROWING]
    frame = csv_frame(whole, STEP_KEYS, (*GROWING, "step_threads", *grown))
    panels = [_of_steps("", frame, (*GROWING, "step_threads"), published)]
    shared = frame[frame[grown].notna().any(axis=1)].reset_index(drop=True)
    if len(shared):
        panels.append(_of_steps(f"Beside {frame['dataset'].iloc[0]}", shared, grown, published))
    caption = (
        "What each step costs. Times are wall-clock times of the whole process, start, compilation, reading, computing "
        "and writing, and the processor seconds of all its threads. Peak memory is the largest resident memory of the "
        "process, pages of mapped files included. MB are 10^6 bytes; a dash on disk means a record of a few kB. All "
        "steps together, one after the other: seconds and files are summed, the peak is the largest."
    )
    if len(shared):
        caption += " The second part has how many times as much a step costs as the same step on the first dataset."
    return Table("scale", paper, STEP_KEYS, frame, caption, panels, _about_steps(records))


def with_growth(steps: pd.DataFrame) -> pd.DataFrame:
    """Add how many times as much each step costs as on the first dataset; missing where that has no such step."""
    steps = steps.copy()
    first = steps["dataset"] == steps["dataset"].iloc[0]
    keys = list(zip(steps["model"], steps["step"], strict=True))
    alone = first | (steps["step"] == TOTAL)  # datasets have different steps
    for name in GROWING:
        of_first = {key: value for key, value, own in zip(keys, steps[name], first, strict=True) if own}
        steps[name + RATIO] = (steps[name] / [of_first.get(key, float("nan")) for key in keys]).mask(alone)
    return steps


def _of_steps(title: str, rows: pd.DataFrame, names: Sequence[str], published: Published) -> Panel:
    return Panel(title, rows, STEP_KEYS, [side_by_side(rows, published, name, contest="") for name in names])


def _total(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum the steps of one dataset, each seed's mean once."""
    together = {
        "dataset": rows["dataset"].iloc[0],
        "model": EVERY,
        "step": TOTAL,
        "step_seconds": math.fsum(rows["step_seconds"].dropna()),
        "cpu_seconds": math.fsum(rows["cpu_seconds"]),
        "step_peak_mb": rows["step_peak_mb"].max(),
        "disk_mb": math.fsum(rows["disk_mb"].dropna()),
        "step_threads": rows["step_threads"].max(),
        "seeds": rows["seeds"].max(),
    }
    return pd.DataFrame([together])


def _about_steps(records: Sequence[StepRecord]) -> list[str]:
    """Describe data, models, estimates and machine, as recorded by the steps."""
    trained = [record for record in records if record.step["name"] == "train"]
    data = list({record.dataset.name: record.dataset for record in trained if record.dataset}.values())
    lines = [
        f"{one.name}: {one.n_train:,} training and {one.n_test:,} test instances, {one.d:,} features, "
        f"{one.m:,} labels, {one.labels_per_instance:.2f} labels per instance (digest {one.digest[:12]})."
        for one in data
    ]
    for record in records:
        if record.floor is not None and record.parts is not None:
            sizes = [f"{part.estimates_per_instance:.1f} in {name}" for name, part in record.parts.items()]
            lines.append(
                f"Estimates of {model_title(record.model_name or '')} on {record.dataset_name} are written above "
                f"{record.floor:g}, per instance {' and '.join(sizes)}; thresholds below are not tried."
            )
    machines = dict.fromkeys(record.step["cpu"] for record in records)
    return [*lines, f"Machine: {', '.join(machines) or MISSING}."]
