"""Test the Pareto figure: its front and its points."""

import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from report_cases import ranking, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.common.figures import STYLES, pareto_front
from xmlc.suite.results.titles import family, model_title

MODELS = {
    "plt": (0.6, 2),
    "plt-batch": (0.63, 4),
    "napkinxc-plt-liblinear": (0.64, 40),
    "omikuji-parabel": (0.62, 9),
    "omikuji-parabel-log": (0.5, 1),
}


def records(datasets=("yeast", "bibtex")):
    return [ranking(name, model, p1=p1, seconds=s) for name in datasets for model, (p1, s) in MODELS.items()]


def points(axes):
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_figure_has_a_panel_for_each_dataset_and_cost(tmp_path):
    figure = draw_figure("pareto", "demo", write(tmp_path, records()))
    assert len(figure.axes) == 4
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["yeast", "", "bibtex", ""]
    found = points(figure.axes[0])
    for model, (p1, seconds) in MODELS.items():
        assert found[model_title(model)].get_xdata()[0] == seconds
        assert found[model_title(model)].get_ydata()[0] == pytest.approx(100 * p1)
        assert to_hex(found[model_title(model)].get_color()) == STYLES[family(model)]["color"].lower()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["xmlc", "napkinXC", "omikuji", "Pareto front"]
    for axes in figure.axes:
        assert {text.get_text() for text in axes.texts} == {*map(model_title, MODELS)}


def test_front_is_drawn_from_cheapest_to_best_model(tmp_path):
    training, prediction, *_ = draw_figure("pareto", "demo", write(tmp_path, records())).axes
    (line,) = (line for line in training.get_lines() if line.get_label() == "_front")
    assert line.get_ydata().tolist()[:-1] == pytest.approx([50, 60, 63, 64])
    assert line.get_xdata().tolist()[:-1] == [1, 2, 4, 40]
    # All predict at the same cost, so only the best is on the front.
    (line,) = (line for line in prediction.get_lines() if line.get_label() == "_front")
    assert line.get_ydata().tolist() == pytest.approx([64, 64])


def test_seeds_are_averaged_and_oracle_is_omitted(tmp_path):
    oracle = ranking(model="oracle")
    oracle["costs"] |= {"train_seconds": None, "predict_ms_per_instance": None}
    given = [ranking(seed=0, p1=0.5, seconds=2.0), ranking(seed=1, p1=0.6, seconds=4.0), oracle]
    axes = draw_figure("pareto", "demo", write(tmp_path, given)).axes[0]
    assert list(points(axes)) == ["PLT"]
    assert (points(axes)["PLT"].get_xdata()[0], points(axes)["PLT"].get_ydata()[0]) == pytest.approx((3, 55))
    with raises_with(XmlcError, "pareto"):
        draw_figure("pareto", "demo", write(tmp_path / "oracle", [oracle]))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_front_has_the_points_that_no_other_dominates(places):
    front = [places[i] for i in pareto_front(*zip(*places))]
    beaten = {
        (cost, quality)
        for cost, quality in places
        for c, q in places
        if (c <= cost and q > quality) or (c < cost and q >= quality)
    }
    assert front == sorted(set(places) - beaten)
