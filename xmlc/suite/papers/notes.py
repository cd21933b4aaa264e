"""Write the footnotes that tables have in common, on data, seeds, threads, and the meaning of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean

from xmlc.data import synthetic
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import MARK, PAPER
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import Rows, is_missing
from xmlc.suite.results.records.base import Record, RecordFile
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.results.titles import FULL, LIMITS, model_title

EXPECTED_F = (
    "Expected F computes thresholds from the estimates on the test set and the labels' shares in the training set. "
    "A label with neither positives nor predictions counts 0, or 1 with 0/0 = 1."
)


def notes_of(table: Table) -> list[str]:
    """Return the footnotes that tables have in common, on data, seeds, threads, and the meaning of columns."""
    records, definition = table.records, table.definition
    lines = [digests_line(records), *synthetic_line(records)]
    if seeds := sorted({record.seed for record in records if isinstance(record, Record)}):
        spread = ", mean ± standard deviation" if len(seeds) > 1 else ""
        lines.append(f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}{spread}.")
    parts = [part for panel in table.panels for part in panel.columns]
    if (counts := threads_of(table.rows, definition.threads)) and any(column(part.quantity).cost for part in parts):
        lines.append(f"Times are wall-clock times with {counts}.")
    lines += searches(records) + undefined_note(records)
    limits = [model_title(name) for name in LIMITS if any(record.model_name == name for record in records)]
    if any(panel.compact().rule for panel in table.panels):
        is_of_methods = any(panel.across == "method" for panel in definition.panels)
        of = "methods that plt2016 does not have" if is_of_methods else f"not reported by {table.paper}"
        lines.append(f"Columns set apart: {of}.")
    has_marked = any(number.method.endswith(FULL) for part in parts for number in part.numbers)
    if any(part.competes for part in parts):
        of = "each model and dataset" if any(panel.each == "model" for panel in definition.panels) else "each dataset"
        of += f", without {', '.join(limits)}" * bool(limits)
        lines.append(f"Bold: the best of {of}." + f" Methods with {MARK} are compared separately." * has_marked)
    if has_marked:
        lines.append(f"{MARK}: the model is trained on the whole training set, and not on 80 % of it.")
    if limits:
        lines.append("oracle: the true posteriors of a synthetic dataset replace a model's estimates.")
    methods = {record.method_name for record in records}
    if "fta-labelwise" in methods:
        lines.append("FTA label-wise: a separate fixed threshold for each label.")
    if any(method.startswith("expected-f") for method in methods):
        lines.append(EXPECTED_F)
    if any(part.has_published for part in parts):
        has_times = any(part.has_published and column(part.quantity).cost for part in parts)
        lines.append(f"{PAPER}: the value published in {table.paper}{', with times from another machine' * has_times}.")
    return lines


def threads_of(rows: Rows, names: Collection[str]) -> str:
    """Return the number of threads of time measurements as text, such as ``1 or 2 threads``.

    The text is empty if the number of threads is unknown.
    """
    numbers = [row[name] for row in rows.values() for name in names if name in row]
    counts = sorted({value for number in numbers for value in number.runs.values() if not is_missing(value)})
    return f"{' or '.join(f'{count:g}' for count in counts)} thread{'s' * (counts != [1])}" if counts else ""


def digests_line(records: Iterable[RecordFile]) -> str:
    """Return a line with the names of the records' datasets and the first digits of their digests."""
    digests = {record.dataset_name: record.data_digest for record in records}
    return "Data (digest): " + ", ".join(f"{name} ({digest[:12]})" for name, digest in digests.items()) + "."


def synthetic_line(records: Iterable[RecordFile], left_out: str = "") -> list[str]:
    """Return a list with a sentence that names the records' synthetic datasets.

    The list is empty if there are no synthetic datasets.
    """
    names = dict.fromkeys(record.dataset_name for record in records if record.dataset_name.endswith(synthetic.MARK))
    said = "made by `xmlc synth`, not compared with published numbers" + left_out
    return [f"{', '.join(names)}: {said}."] if names else []


def undefined_note(records: Iterable[RecordFile]) -> list[str]:
    """Return a list with a sentence that states the share of labels with F-measure 0/0 on each dataset's test set.

    Datasets whose share is printed as 0.0 are left out. The list is empty if all datasets are left out.

    The share depends on the predicted labels, and is macro-F with 0/0 = 1 minus macro-F with 0/0 = 0.
    """
    shares: dict[str, list[float]] = {}
    for record in records:
        scores = record.best.test if isinstance(record, ThresholdRecord) else getattr(record, "metrics", None) or {}
        if "macro_f_zero" in scores:
            shares.setdefault(record.dataset_name, []).append(100 * (scores["macro_f"] - scores["macro_f_zero"]))
    ends = {name: sorted({f"{min(some):.1f}", f"{max(some):.1f}"}, key=float) for name, some in shares.items()}
    parts = [f"{name} {' to '.join(some)} %" for name, some in ends.items() if some != ["0.0"]]
    about = "Labels with neither test instances nor predictions, which macro-F counts as 1 (0/0 = 1): "
    return [f"{about}{', '.join(parts)}."] * bool(parts)


def searches(records: Sequence[RecordFile]) -> list[str]:
    """Return sentences on how label trees are searched for the top labels.

    For a beam search, the sentences contain the share of rankings that are proved to be exact.
    """
    searched = [(r.hyperparameters.get("search"), r) for r in records if isinstance(r, RankingRecord)]
    exactly = dict.fromkeys(model_title(record.model) for how, record in searched if how in ("exact", "certified"))
    by_beam: dict[str, dict[str, list[float]]] = {}
    for record in (record for how, record in searched if how == "beam"):
        name = f"{model_title(record.model)} with beam width {record.hyperparameters['beam']}"
        by_beam.setdefault(name, {}).setdefault(record.dataset.name, []).append(record.certified or 0.0)
    parts = [f"exact for {' and '.join(exactly)}"] if exactly else []
    for name, shares in by_beam.items():
        proved = ", ".join(f"{100 * fmean(some):.0f} % of {data}" for data, some in shares.items())
        parts.append(f"{name} (provably exact for {proved})")
    return [f"Search in label trees: {'; '.join(parts)}."] if parts else []
