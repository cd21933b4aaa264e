"""Test the Pareto figure: its front and its points."""

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from report_cases import ranking, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.common.figures import PROGRAMS, pareto_front, with_front
from xmlc.suite.results.titles import family, model_title

MODELS = {
    "plt": (0.6, 2),
    "plt-batch": (0.63, 4),
    "napkinxc-plt-liblinear": (0.64, 40),
    "omikuji-parabel": (0.62, 9),
    "omikuji-parabel-log": (0.5, 1),
}


def draw(folder, *records):
    return draw_figure("pareto", "demo", write(folder, records))


def line(axes, label):
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return found


def texts(artists):
    return {text.get_text() for text in artists}


def test_each_dataset_has_panels_of_costs_with_points_and_front(tmp_path):
    records = []
    for name in ("yeast", "bibtex"):
        for model, (p1, seconds) in MODELS.items():
            records.append(ranking(name, model, p1=p1, seconds=seconds))
    figure = draw(tmp_path, *records)
    titles = ["yeast, 2 threads", "yeast, 2 threads", "bibtex, 2 threads", "bibtex, 2 threads"]
    assert [axes.get_title() for axes in figure.axes] == titles
    training, prediction, *_ = figure.axes
    for program, colour in zip(PROGRAMS["label"], PROGRAMS["color"], strict=True):
        drawn = line(training, program)
        expected = {s: 100 * p1 for model, (p1, s) in MODELS.items() if family(model) == program}
        assert dict(drawn.get_xydata()) == pytest.approx(expected)
        assert to_hex(drawn.get_color()) == colour.lower()
    (legend,) = figure.legends
    assert texts(legend.get_texts()) == {"xmlc", "napkinXC", "omikuji", "Pareto front"}
    # from the cheapest to the best model
    front = line(training, "Pareto front").get_xydata()[:-1]
    assert front == pytest.approx(np.array([[1, 50], [2, 60], [4, 63], [40, 64]]))
    assert texts(training.texts) == {*map(model_title, MODELS)} - {model_title("omikuji-parabel")}
    # All predict at the same cost, so only the best is on the front.
    assert line(prediction, "Pareto front").get_ydata() == pytest.approx(64)
    assert texts(prediction.texts) == {model_title("napkinxc-plt-liblinear")}


def test_seeds_are_averaged_and_oracle_is_omitted(tmp_path):
    oracle = ranking(model="oracle")
    oracle["costs"] |= {"train_seconds": None, "predict_ms_per_instance": None}
    seeds = [ranking(seed=0, p1=0.5, seconds=2.0), ranking(seed=1, p1=0.6, seconds=4.0)]
    axes = draw(tmp_path, *seeds, oracle).axes[0]
    assert texts(axes.texts) == {"PLT"}
    assert line(axes, "xmlc").get_xydata()[0].tolist() == pytest.approx([3, 55])
    with raises_with(XmlcError, "pareto"):
        draw(tmp_path / "oracle", oracle)


def test_control_characters_are_left_out_of_names():
    points = pd.DataFrame({"model": ["bell\a", "_mine", "$$"], "x": [1.0, 2, 3], "y": [1.0, 2, 3]})
    assert with_front(points)["name"].tolist()[:3] == ["bell", "_mine", "$$"]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_front_has_the_points_that_no_other_dominates(places):
    front = pareto_front(pd.DataFrame(places, columns=["x", "y"]))
    best = []
    for x, y in sorted(set(places)):
        if {(a, b) for a, b in places if a <= x and b >= y} == {(x, y)}:
            best.append((x, y))
    assert [*front.itertuples(index=False, name=None)] == best
