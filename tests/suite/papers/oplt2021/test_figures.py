"""Test Figure 2 of oplt2021."""

import math

from facts import raises_with
from record_cases import progressive
from report_cases import write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure


def stream(*accuracies, name="aloi", model="oplt-b-1-pass", seed=0):
    """Return a record with the accuracies after 1, 10 and 100 instances."""
    rows = []
    for i, accuracy in enumerate(accuracies or (0.0, 0.25, 0.5)):
        reduction = math.log2(accuracy / 0.125) if accuracy else None
        row = {"instances": 10**i, "accuracy": accuracy, "entropy_reduction": reduction}
        rows.append(row)
    return progressive(name, model, seed, constant_accuracy=0.125, rows=rows)


def draw(folder, *records):
    """Return the panels of the figure."""
    figure = draw_figure("2", "oplt2021", write(folder, records))
    return [axes for axes in figure.axes if axes.axison]


def test_entropy_reduction_is_computed_from_mean_accuracy(tmp_path):
    others = (stream(model="cmt-1-pass"), stream(name="wikipara-3"))
    shown = draw(tmp_path, stream(), stream(0.0, 0.75, 0.5, seed=1), *others)
    assert [axes.get_title() for axes in shown] == ["aloi", "wikipara-3"]
    lines = {line.get_label(): line.get_xydata().tolist() for line in shown[0].get_lines()}
    # the first few instances make curves jump
    assert lines == {"CMT": [[10, 1], [100, 2]], "OPLT-B": [[10, 2], [100, 2]]}


def test_memory_tree_is_drawn_with_trees_of_both_growth_rules(tmp_path):
    models = ("oplt-r", "oplt-b", "oplt-r-program", "oplt-b-program", "cmt")
    (axes,) = draw(tmp_path, *(stream(model=f"{model}-1-pass") for model in models))
    lines = axes.get_lines()
    assert len({line.get_color() for line in lines}) == len(lines) == len(models)
    styles = {line.get_label(): line.get_linestyle() for line in lines}
    for name in ("OPLT-R", "OPLT-B"):
        assert styles[name] == styles[f"{name}, program's tree"]


def test_seeds_with_different_checkpoints_are_refused(tmp_path):
    with raises_with(XmlcError, "oplt-b-1-pass", "aloi"):
        draw(tmp_path, stream(), stream(0.1, 0.2, seed=1))
