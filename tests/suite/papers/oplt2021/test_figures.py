"""Test Figure 2 of oplt2021."""

import math

from facts import raises_with
from report_cases import dataset, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure


def progressive(
    name="aloi", model="oplt-b-1-pass", seed=0, accuracies=(0.0, 0.25, 0.5), constant=0.125
):
    rows = [
        {
            "instances": 10**i,
            "accuracy": accuracy,
            "entropy_reduction": math.log2(accuracy / constant) if accuracy else None,
        }
        for i, accuracy in enumerate(accuracies)
    ]
    record = {
        "kind": "progressive",
        "schema": 1,
        "dataset": dataset(name),
        "model": model,
        "seed": seed,
    }
    record |= {"hyperparameters": {}, "split": "full", "costs": {}, "environment": {}}
    return record | {"constant_accuracy": constant, "rows": rows}


def test_entropy_reduction_is_computed_from_mean_accuracy(tmp_path):
    records = [
        progressive(accuracies=(0.0, 0.25, 0.5)),
        progressive(seed=1, accuracies=(0.0, 0.75, 0.5)),
        progressive(model="cmt-1-pass"),
        progressive("wikipara-3"),
    ]
    shown = [
        axes for axes in draw_figure("2", "oplt2021", write(tmp_path, records)).axes if axes.axison
    ]
    assert [axes.get_title() for axes in shown] == ["aloi", "wikipara-3"]
    single, of_seeds = shown[0].get_lines()
    assert of_seeds.get_xdata().tolist() == [10, 100]  # the first few instances make curves jump
    assert of_seeds.get_ydata().tolist() == [2, 2]
    assert single.get_ydata().tolist() == [1, 2]
    assert [line.get_label() for line in shown[0].get_lines()] == ["CMT", "OPLT-B"]


def test_memory_tree_is_drawn_with_trees_of_both_growth_rules(tmp_path):
    models = [
        f"{name}-1-pass" for name in ("oplt-r", "oplt-b", "oplt-r-program", "oplt-b-program", "cmt")
    ]
    figure = draw_figure(
        "2", "oplt2021", write(tmp_path, [progressive(model=model) for model in models])
    )
    (axes,) = [axes for axes in figure.axes if axes.axison]
    assert len({line.get_color() for line in axes.get_lines()}) == len(models)
    drawn = {line.get_label(): line.get_linestyle() for line in axes.get_lines()}
    assert {*drawn} == {
        "OPLT-R",
        "OPLT-B",
        "OPLT-R, program's tree",
        "OPLT-B, program's tree",
        "CMT",
    }
    for name in ("OPLT-R", "OPLT-B"):
        assert drawn[name] == drawn[f"{name}, program's tree"]


def test_seeds_with_different_checkpoints_are_refused(tmp_path):
    records = [progressive(), progressive(seed=1, accuracies=(0.1, 0.2))]
    with raises_with(XmlcError, "oplt-b-1-pass", "aloi"):
        draw_figure("2", "oplt2021", write(tmp_path, records))
