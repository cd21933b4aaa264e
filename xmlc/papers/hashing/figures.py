"""The figure of the suite hashing: P@1 and macro-F against the slots for each weight."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from xmlc.core.errors import XmlcError
from xmlc.papers.plotting import BLUE, GREEN, VERMILION, add_grid, figure
from xmlc.papers.tables.titles import method_title
from xmlc.records.ranking import RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.suites.needs import RANKINGS, THRESHOLDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AnyRecord = RankingRecord | ThresholdRecord
EXACT = "plt"
BYTES_PER_SLOT = 4  # of a table of float32
STYLES = {"p@1": (BLUE, "o"), "fta": (VERMILION, "s"), "ofo": (GREEN, "^")}


@figure("collisions", RANKINGS, THRESHOLDS)
def collisions(paper: str, rankings: Sequence[RankingRecord], thresholds: Sequence[ThresholdRecord]) -> Figure:
    """Draw P@1 and macro-F of a PLT with hashed weights against slots per weight; a line for the exact weights."""
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(record.dataset.name for record in rankings))
    if not datasets:
        raise XmlcError("collisions: no record is given")
    sheet = Figure(figsize=(1.0 + 3.1 * len(datasets), 5.0), layout="constrained")
    grid = sheet.subplots(2, len(datasets), sharex="col", squeeze=False)
    for column, name in enumerate(datasets):
        ranked = [record for record in rankings if record.dataset.name == name]
        tuned = [record for record in thresholds if record.dataset.name == name]
        slots = slots_per_weight(ranked)
        _draw(grid[0, column], slots, "p@1", {_model(r): _p_at_1(ranked, _model(r)) for r in ranked})
        for method in dict.fromkeys(record.method for record in tuned):
            own = [record for record in tuned if record.method == method]
            _draw(grid[1, column], slots, method, {_model(r): _macro_f(own, _model(r)) for r in own})
        grid[0, column].set_title(name)
        grid[1, column].set_xlabel("slots per weight")
    grid[0, 0].set_ylabel("P@1 (%)")
    grid[1, 0].set_ylabel("macro-F (%)")
    for first in grid[:, 0]:
        if first.get_lines():
            first.legend(loc="lower right", frameon=False, fontsize=7)
    return sheet


def slots_per_weight(records: Sequence[RankingRecord]) -> dict[str, float]:
    """Return the bytes of each hashed model's table by the bytes of the exact model, of one dataset.

    All but a few percent of an exact model are its weights, of 4 bytes each as a slot is.

    Raises
    ------
    XmlcError
        There is no record of the exact model with the size of its files.
    """
    exact = next((record.costs.model_bytes for record in records if record.model == EXACT), None)
    if not exact:
        raise XmlcError(f"collisions: no record of the model {EXACT} with the size of its files is given")
    bits = {record.model: record.hyperparameters.get("hash_bits") for record in records}
    return {name: BYTES_PER_SLOT * 2**bit / exact for name, bit in bits.items() if isinstance(bit, int)}


def _draw(axes: Axes, slots: dict[str, float], what: str, scores: dict[str, float]) -> None:
    """Draw a curve, and a dashed line where the exact weights are."""
    colour, marker = STYLES.get(what, ("0.3", "D"))
    hashed = sorted((slots[model], score) for model, score in scores.items() if model in slots)
    label = "P@1" if what == "p@1" else method_title(what)
    axes.plot(*zip(*hashed, strict=True), color=colour, marker=marker, markersize=4, linewidth=1.3, label=label)
    if EXACT in scores:
        axes.axhline(scores[EXACT], color=colour, linewidth=1.0, linestyle=(0, (4, 2)), label=f"{label}, exact weights")
    axes.set_xscale("log", base=2)
    add_grid(axes)


def _model(record: AnyRecord) -> str:
    return record.model


def _p_at_1(records: Sequence[RankingRecord], model: str) -> float:
    return 100 * fmean(record.metrics["p@1"] for record in records if record.model == model)


def _macro_f(records: Sequence[ThresholdRecord], model: str) -> float:
    return 100 * fmean(record.best.test["macro_f"] for record in records if record.model == model)
