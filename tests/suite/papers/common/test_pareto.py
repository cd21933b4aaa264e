"""Test the Pareto figure: its front and its points."""

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


def records(datasets=("yeast", "bibtex")):
    found = []
    for name in datasets:
        found += [ranking(name, model, p1=p1, seconds=s) for model, (p1, s) in MODELS.items()]
    return found


def line(axes, label):
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return found


def test_figure_has_a_panel_for_each_dataset_and_cost(tmp_path):
    figure = draw_figure("pareto", "demo", write(tmp_path, records()))
    assert [axes.get_title() for axes in figure.axes] == 2 * ["yeast, 2 threads"] + 2 * [
        "bibtex, 2 threads"
    ]
    for program, colour in zip(PROGRAMS["label"], PROGRAMS["color"], strict=True):
        drawn = line(figure.axes[0], program)
        expected = [(s, 100 * p1) for model, (p1, s) in MODELS.items() if family(model) == program]
        assert dict(drawn.get_xydata()) == pytest.approx(dict(expected))
        assert to_hex(drawn.get_color()) == colour.lower()
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "xmlc",
        "napkinXC",
        "omikuji",
        "Pareto front",
    }


def test_front_is_drawn_from_cheapest_to_best_model(tmp_path):
    training, prediction, *_ = draw_figure("pareto", "demo", write(tmp_path, records())).axes
    front = line(training, "Pareto front")
    assert front.get_ydata().tolist()[:-1] == pytest.approx([50, 60, 63, 64])
    assert front.get_xdata().tolist()[:-1] == [1, 2, 4, 40]
    on_front = ["omikuji-parabel-log", "plt", "plt-batch", "napkinxc-plt-liblinear"]
    assert {text.get_text() for text in training.texts} == {*map(model_title, on_front)}
    # All predict at the same cost, so only the best is on the front.
    assert line(prediction, "Pareto front").get_ydata().tolist() == pytest.approx([64, 64])
    assert [text.get_text() for text in prediction.texts] == [model_title("napkinxc-plt-liblinear")]


def test_seeds_are_averaged_and_oracle_is_omitted(tmp_path):
    oracle = ranking(model="oracle")
    oracle["costs"] |= {"train_seconds": None, "predict_ms_per_instance": None}
    given = [ranking(seed=0, p1=0.5, seconds=2.0), ranking(seed=1, p1=0.6, seconds=4.0), oracle]
    axes = draw_figure("pareto", "demo", write(tmp_path, given)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["PLT"]
    assert line(axes, "xmlc").get_xydata().tolist() == [pytest.approx([3, 55])]
    with raises_with(XmlcError, "pareto"):
        draw_figure("pareto", "demo", write(tmp_path / "oracle", [oracle]))


def test_control_characters_are_left_out_of_names():
    places = [1.0, 2.0, 3.0]
    points = with_front(
        pd.DataFrame({"model": ["bell\a", "_mine", "$$"], "x": places, "y": places})
    )
    assert points["name"].tolist()[:3] == ["bell", "_mine", "$$"]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_front_has_the_points_that_no_other_dominates(places):
    front = pareto_front(pd.DataFrame(places, columns=["x", "y"]))
    beaten = {
        (cost, quality)
        for cost, quality in places
        for c, q in places
        if (c <= cost and q > quality) or (c < cost and q >= quality)
    }
    assert [*front.itertuples(index=False, name=None)] == sorted(set(places) - beaten)
