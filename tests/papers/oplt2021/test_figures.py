"""Figures of oplt2021: progressive validation and sweeps."""

import math

import pytest
from report_cases import dataset, sweep_over, write

from xmlc.core.errors import XmlcError
from xmlc.papers.building import draw_figure


def progressive(name="aloi", model="oplt-b-1-pass", seed=0, accuracies=(0.0, 0.25, 0.5), constant=0.125, macro_f=None):
    rows = [
        {
            "instances": 10**i,
            "accuracy": accuracy,
            "entropy_reduction": math.log2(accuracy / constant) if accuracy else None,
            "macro_f": macro_f,
            "macro_f_present": macro_f and macro_f * i,
        }
        for i, accuracy in enumerate(accuracies)
    ]
    record = {"kind": "progressive", "schema": 1, "dataset": dataset(name), "model": model, "seed": seed}
    record |= {"hyperparameters": {}, "portion": "full", "costs": {}, "passport": {}}
    return record | {"constant_accuracy": constant, "rows": rows}


def lines(axes):
    return [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.get_lines()]


def test_entropy_reduction_is_that_of_the_mean_accuracy(tmp_path):
    records = [
        progressive(accuracies=(0.0, 0.25, 0.5)),
        progressive(seed=1, accuracies=(0.0, 0.75, 0.5)),
        progressive(model="cmt-1-pass"),
        progressive("wikipara-3"),
    ]
    figure = draw_figure("2", "oplt2021", write(tmp_path, records))
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in shown] == ["aloi", "wikipara-3"]
    (x, y), (_, single) = lines(shown[0])
    assert x == [10, 100]  # the first few instances make a curve jump
    assert y == [2, 2]
    assert single == [1, 2]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["OPLT-B", "CMT"]


def test_seeds_with_other_checkpoints_are_refused(tmp_path):
    records = [progressive(), progressive(seed=1, accuracies=(0.1, 0.2))]
    with pytest.raises(XmlcError, match="seeds of oplt-b-1-pass on aloi were scored after different numbers"):
        draw_figure("2", "oplt2021", write(tmp_path, records))


def curve(axes, title):
    (line,) = [line for line in axes.get_lines() if line.get_label() == title]
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def test_precision_depth_and_times_against_alpha(tmp_path):
    records = [sweep_over("alpha", (0.5, 0.25, 0.75), seed=seed, p1=0.6 + 0.02 * seed) for seed in (0, 1)]
    records.append(sweep_over("alpha", (0.25, 0.5, 0.875), "bibtex"))
    sheet = draw_figure("alpha", "oplt2021", write(tmp_path, records))
    assert [axes.get_title() for axes in sheet.axes] == 3 * ["yeast"] + 3 * ["bibtex"]
    precision, depth, times = sheet.axes[:3]
    assert curve(precision, "P@1") == ([0.25, 0.5, 0.75], pytest.approx([63, 61, 65]))
    assert curve(depth, "depth") == ([0.25, 0.5, 0.75], [5, 3, 7])
    assert curve(times, "training") == ([0.25, 0.5, 0.75], pytest.approx([1.5, 2, 1]))
    # Without the paper's alpha times are multiples of those of the largest.
    assert curve(sheet.axes[5], "training")[1] == pytest.approx([2, 1.5, 1])
    assert "0.875" in sheet.axes[5].get_ylabel()


def test_both_methods_against_the_size_of_the_sample(tmp_path):
    records = [
        sweep_over("warm_start", (0.05, 0.1, 0.5), model="oplt-w-3-passes"),
        sweep_over("max_samples", (0.05, 0.1, 1.0), model="iplt-3-passes", p1=0.5),
    ]
    sheet = draw_figure("warmstart", "oplt2021", write(tmp_path, records))
    axes = sheet.axes[0]
    assert curve(axes, "P@1, OPLT-W, 3 passes") == ([5, 10, 50], pytest.approx([60, 62, 64]))
    assert curve(axes, "P@1, IPLT, 3 passes, sample alone") == ([5, 10, 100], pytest.approx([50, 52, 54]))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["5", "10", "50", "100"]
