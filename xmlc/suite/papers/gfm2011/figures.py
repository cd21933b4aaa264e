"""Draw Figure 1 of gfm2011, which shows F-measures of inference from samples, and inference times."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xmlc.suite.config.planned import SIMULATIONS
from xmlc.suite.papers import plotting
from xmlc.suite.papers.plotting import BLACK, BLUE, ORANGE, SKY, VERMILION, Style
from xmlc.suite.results.records.simulation import GrowthFromSamples, ModelScores, SimulationRecord
from xmlc.suite.results.titles import method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Each variant has a lighter colour than its method, a dashed line and hollow markers.
_VARIANT = {"linestyle": (0, (4, 2)), "markerfacecolor": "white"}
STYLES: dict[str, Style] = {
    "gfm": {"color": BLUE, "marker": "o"},
    "gfm-t": {"color": SKY, "marker": "^", **_VARIANT},
    "meuf": {"color": VERMILION, "marker": "s"},
    "meuf-approx": {"color": ORANGE, "marker": "D", **_VARIANT},
    "meuf-cubic": {"color": BLACK, "marker": "v"},
}
OPTIMUM: Style = {"color": "0.45", "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
PANELS = {
    "independent": "independent labels",
    "dependent": "dependent, as printed",
    "dependent-signed": "dependent, −1 and +1",
}
NOTE_WIDTH, NOTE_LINE = 125, 0.12  # Characters per line of the note, and the height of a line in inches.
APART = 0.7  # Horizontal distance between the points of two curves, in samples, so that equal curves stay visible.


@plotting.figure(
    "figure1",
    SIMULATIONS,
    caption="Expected F against the sample size for three models of labels, and time against the number of labels.",
)
def figure1(paper: str, records: Sequence[SimulationRecord]) -> Figure:
    """Draw F-measures against the sample size for each model, and inference times against the number of labels.

    ``records`` must contain exactly one record.
    """
    (record,) = records
    sheet, (*scores, last) = plotting.panels(len(PANELS) + 1, 3, shape=0.6)
    for axes, (name, title) in zip(scores, PANELS.items(), strict=True):
        _draw_scores(axes, record.sample_sizes, record.models[name])
        axes.set(title=title, xlabel="sample size", ylabel="expected F")
    times = record.growth["samples"]
    _draw_times(last, times)
    note = _note(record)
    sheet.set_figheight(sheet.get_figheight() + NOTE_LINE * (note.count("\n") + 2))
    sheet.supxlabel(note, color="0.3", ha="left", x=0.01)
    plotting.label_lines([*scores, last])
    return sheet


def _draw_scores(axes: Axes, sample_sizes: Sequence[int], model: ModelScores) -> None:
    axes.plot([0, max(sample_sizes)], 2 * [model["optimum"]], label="maximum", **OPTIMUM)
    for number, (method, scores) in enumerate(model["methods"].items()):
        places, error = [size + APART * number for size in sample_sizes], scores["standard_error"]
        bars = axes.errorbar(places, scores["mean"], yerr=error, elinewidth=0.6, **STYLES[method])
        bars.lines[0].set_label(method_title(method))
    axes.set_xlim(left=0)


def _draw_times(axes: Axes, times: GrowthFromSamples) -> None:
    for method, ms in times["ms"].items():
        axes.plot(times["labels"], [1000 * value for value in ms], **STYLES[method], label=method_title(method))
    axes.set(yscale="log", xticks=times["labels"][::2], xlabel="number of labels m", ylabel="time (µs)")
    axes.set_title(f"time for {times['n_samples']} samples")
    plotting.log_ticks(axes.yaxis)


def _note(record: SimulationRecord) -> str:
    """Return the note below the panels.

    The note explains how scores and times are obtained, because the paper does not explain this.
    """
    growth = record.growth
    threads = f"{growth['threads']} thread{'s' * (growth['threads'] != 1)}"
    text = (
        f"{record.labels} labels, mean and standard error of {record.trials} trials. Coinciding curves are shifted. "
        "The score is the exact expected F under the distribution of the samples (0/0 = 1), and the dotted line is "
        "its maximum. As in the paper, the logit of dependent label i is −(i − 1)/2 + the number of ones before it. "
        "The model with −1 and +1 is not in the paper: the logit of label i is −1 + the sum of the labels before it. "
        "Times from a sample of independent labels to the label set: "
        f"{threads}, mean of {growth['samples']['instances']} trials in the fastest of {growth['rounds']} rounds. "
        f"MEUF finds the same sets as the published procedure. CPU: {record.environment['cpu']}."
    )
    return textwrap.fill(text, NOTE_WIDTH)
