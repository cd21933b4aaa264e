"""The footnotes of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from xmlc.records.base import Record
from xmlc.records.ranking import RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.tables.panels import Panel
from xmlc.tables.titles import LIMITS, model_title


def notes(
    paper: str,
    records: Sequence[Record],
    threads: Iterable[int | None],
    panels: Sequence[Panel],
    best_of: str = "each dataset",
) -> list[str]:
    """Return the footnotes of a table: data, seeds, threads, and what the other columns mean.

    Parameters
    ----------
    records : sequence of Record
    threads : iterable of int or None
        How many the times of the records had; nothing where no times are shown.
    panels : sequence of Panel
        What is printed; says whether published values stand beside the measured ones.
    best_of : str
        Among what the best is sought.
    """
    digests = {record.dataset.name: record.dataset.digest for record in records}
    lines = [digests_line(digests)]
    seeds = sorted({record.seed for record in records})
    spread = "; mean ± standard deviation" if len(seeds) > 1 else ""
    lines.append(f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}{spread}.")
    if counts := sorted({count for count in threads if count is not None}):
        number = " or ".join(f"{count:g}" for count in counts)
        lines.append(f"Times are wall-clock times with {number} thread{'s' * (counts != [1])}.")
    lines += searches(records) + undefined(records)
    limits = [model_title(name) for name in LIMITS if any(record.model == name for record in records)]
    if any(part.contest and part.column.better for panel in panels for part in panel.columns):
        lines.append(f"Bold: the best of {best_of}" + (f"; {', '.join(limits)} left out." if limits else "."))
    if limits:
        lines.append("oracle: the true posteriors of a synthetic dataset in place of a model's estimates.")
    if any(record.method_name == "fta-unbounded" for record in records):
        lines.append("FTA, 1/c: as the authors' program, without the lower bound nu_j that Section 6.2 prints for FTA.")
    if any(record.method_name == "fta-labelwise" for record in records):
        lines.append("FTA label-wise: the fixed thresholds searched label by label instead of one for all labels.")
    if any(part.published for panel in panels for part in panel.columns):
        lines.append(f"(paper): the value that {paper} prints; its times are of another machine.")
    return lines


def digests_line(digests: dict[str, str]) -> str:
    """Say which data a table is about: by name, the first digits of its digest."""
    return "Data (digest): " + ", ".join(f"{name} ({digest[:12]})" for name, digest in digests.items()) + "."


def undefined(records: Iterable[Record]) -> list[str]:
    """Say which share of a dataset's labels has 0/0 on the test set; nothing of records without macro-F.

    It is the difference of macro-F with 0/0 = 1 and with 0/0 = 0, and depends on which labels are predicted.
    """
    shares: dict[str, list[float]] = {}
    for record in records:
        scores = record.best.test if isinstance(record, ThresholdRecord) else getattr(record, "metrics", None) or {}
        if "macro_f_zero" in scores:
            shares.setdefault(record.dataset.name, []).append(100 * (scores["macro_f"] - scores["macro_f_zero"]))
    parts = [f"{name} {' to '.join(sorted({f'{min(some):.1f}', f'{max(some):.1f}'}, key=float))} %"
             for name, some in shares.items()]  # fmt: skip
    about = "Labels neither in the test set nor predicted, each of which macro-F counts as 1 (0/0 = 1): "
    return [about + ", ".join(parts) + "."] if parts else []


def searches(records: Sequence[Record]) -> list[str]:
    """Say how label trees were searched for the labels that are ranked, and where a beam's answer is proved."""
    exactly: dict[str, None] = {}
    by_beam: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if not isinstance(record, RankingRecord):
            continue
        search = record.hyperparameters.get("search")
        if search in ("exact", "certified"):
            exactly[model_title(record.model)] = None
        elif search == "beam":
            name = f"{model_title(record.model)} by a beam of width {record.hyperparameters['beam']}"
            by_beam.setdefault(name, {}).setdefault(record.dataset.name, []).append(record.certified or 0.0)
    parts = [f"{', '.join(exactly)} exactly"] if exactly else []
    for name, shares in by_beam.items():
        proved = ", ".join(f"{100 * sum(some) / len(some):.0f} % of {data}" for data, some in shares.items())
        parts.append(f"{name} (provably exact for {proved})")
    return [f"Search of label trees for the labels ranked: {'; '.join(parts)}."] if parts else []


def overfitting(frame: pd.DataFrame) -> list[str]:
    """Say where STO has the highest macro-F on the validation set and not on the test set, as plt2016 observes.

    Parameters
    ----------
    frame : DataFrame
        Rows of dataset, model, method with ``macro_f`` and ``validation_macro_f``; FTA, STO and OFO are looked at.
    """
    shown: dict[bool, list[str]] = {True: [], False: []}
    three = frame[frame["method"].isin(("fta", "sto", "ofo")) & ~frame["model"].isin(LIMITS)]
    for (dataset, model), rows in three.groupby(["dataset", "model"], sort=False):
        by_method = rows.set_index("method")
        if len(by_method) < 3:
            continue
        highest = by_method["validation_macro_f"].idxmax() == "sto"
        sto, others = by_method["macro_f"]["sto"], by_method["macro_f"].drop("sto").max()
        on_validation = by_method["validation_macro_f"]["sto"]
        figures = f"{on_validation:.1f} on validation, {sto:.1f} on test, the best other {others:.1f}"
        shown[bool(highest and sto < others)].append(f"{dataset} with {model_title(model)} ({figures})")
    parts = ("STO overfits (highest macro-F on the validation set, not on the test set): ", shown[True])
    rest = ("This is not seen on ", shown[False])
    return [start + "; ".join(names) + "." for start, names in (parts, rest) if names]
