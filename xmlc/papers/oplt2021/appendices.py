"""Appendices F and G of oplt2021, and its other policies: tables that are made on request, from sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.records import sweep
from xmlc.records.sweep import SweepRecord
from xmlc.suites.needs import sweeps_of
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table

ALPHAS, SAMPLES, POLICIES = sweeps_of("alpha"), sweeps_of("warm-start", "sample"), sweeps_of("policy")
PRECISION = ("p@1", "p@3", "p@5")
SHOWN = (*PRECISION, "depth", "nodes", "train_seconds", "predict_ms")
ALPHA_KEYS = ("dataset", "alpha")
SAMPLE_KEYS = ("dataset", "sample", "model")
POLICY_KEYS = ("dataset", "policy")
SAMPLED = ("warm_start", "max_samples")  # the hyperparameters of OPLT-W and of IPLT that say how large the sample is


@table("alpha", ALPHA_KEYS, ALPHAS)
def alpha(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of Appendix F: what the balance's share in best-greedy's score does to P@k, times and depth."""
    about = "Best-greedy trees (OPLT-B) by alpha, the share of the tree's balance in the score of a child"
    return _table("alpha", paper, records, sweep.frame(records), ALPHA_KEYS, published, about)


@table("warm-start", SAMPLE_KEYS, SAMPLES)
def warm_start(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of Appendix G: OPLT-W by the size of its warm start's sample, and IPLT on that sample alone."""
    about = (
        "OPLT-W, whose tree starts as one of 2-means over the labels of a sample and is extended by the other "
        "instances, and IPLT, which learns the same sample and nothing else"
    )
    return _table("warm-start", paper, records, with_samples(records), SAMPLE_KEYS, published, about)


@table("policies", POLICY_KEYS, POLICIES)
def policies(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of all policies that the paper names, most of which it does not measure."""
    about = (
        "Online trees by the policy that places new labels: best-greedy and random (Algorithm 8), a complete tree "
        "(Section 4.1), CPET's (Section 4.2), one level of all labels (Section 1)"
    )
    return _table("policies", paper, records, sweep.frame(records), POLICY_KEYS, published, about)


def with_samples(records: Sequence[SweepRecord]) -> pd.DataFrame:
    """Return the rows of sweeps over the size of a sample, in percent, by dataset, then by size, then by model."""
    rows = [
        row | {"sample": percent}
        for record in records
        for row in sweep.frame([record]).to_dict("records")
        for percent in [_percent(row[record.hyperparameter])]
        if record.hyperparameter in SAMPLED
    ]
    frame = pd.DataFrame(rows).drop(columns=list(SAMPLED), errors="ignore")
    datasets = {name: place for place, name in enumerate(frame["dataset"].unique())}
    place = frame.assign(place=frame["dataset"].map(datasets))
    return place.sort_values(["place", "sample"], kind="stable").drop(columns="place")


def _percent(share: float) -> float | int:
    percent = round(100 * share, 6)
    return int(percent) if percent.is_integer() else percent


def _passes(records: Sequence[SweepRecord]) -> str:
    counts = sorted({record.setting("epochs") for record in records})
    return " or ".join(f"{count:g}" for count in counts) + (" pass" if counts == [1] else " passes")


def _table(
    name: str,
    paper: str,
    records: Sequence[SweepRecord],
    rows: pd.DataFrame,
    keys: tuple[str, ...],
    published: Published,
    about: str,
) -> Table:
    caption = f"{about}; {_passes(records)}."
    frame = csv_frame(average_seeds(rows, keys), keys, SHOWN)
    panels = [Panel("", frame, keys, [side_by_side(frame, published, column) for column in SHOWN])]
    footnotes = notes(paper, records, {record.costs.threads for record in records}, panels)
    return Table(name, paper, keys, frame, caption, panels, footnotes)
