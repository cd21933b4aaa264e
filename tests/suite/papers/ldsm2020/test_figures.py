"""The figures of ldsm2020 show the numbers of the records."""

import math
from itertools import product

import pytest
from facts import raises_with
from report_cases import forest, ranking, sweep, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure


def draw(folder, number, *records):
    return draw_figure(number, "ldsm2020", write(folder, records))


def curve(axes, label):
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line


def test_growth_is_averaged_over_seeds_with_a_panel_per_dataset(tmp_path):
    records = [
        forest(p1=0.5),
        forest(seed=1, p1=0.6),
        forest("bibtex", p1=0.3),
        forest(model="fastxml"),
    ]
    first, second = draw(tmp_path, "4", *records).axes
    assert (first.get_title(), second.get_title()) == ("yeast", "bibtex")
    line = curve(first, "P@1")
    assert line.get_xdata().tolist() == [1, 2, 3]
    assert line.get_ydata().tolist() == pytest.approx([60, 65, 70])
    assert curve(second, "nDCG@5").get_ydata()[0] == pytest.approx(7)
    assert curve(second, "nDCG@5").is_dashed()
    assert not line.is_dashed()


def test_scores_and_depths_are_drawn_over_sizes(tmp_path):
    scores, depths = draw(tmp_path, "5", sweep()).axes
    assert scores.get_xscale() == depths.get_xscale() == "log"
    assert curve(scores, "P@1").get_xydata().tolist() == [
        pytest.approx(at) for at in ([16, 60], [64, 62], [256, 64])
    ]
    assert curve(depths, "depth").get_xydata().tolist() == [[16, 3], [64, 5], [256, 7]]


def test_first_figure_shows_delicious_or_the_first_dataset(tmp_path):
    records = [forest("yeast", "ldsm-mean"), sweep("yeast"), ranking(model="ldsm-single")]
    growth, sizes, depths, single = draw(tmp_path, "1", *records).axes
    assert {axes.get_title() for axes in (growth, sizes, depths, single)} == {"yeast"}
    assert curve(growth, "P@1").get_xdata().tolist() == [1, 2, 3]
    assert (
        curve(sizes, "P@1").get_xdata().tolist()
        == curve(depths, "depth").get_xdata().tolist()
        == [16, 64, 256]
    )
    handles = {
        line.get_label(): line.get_linestyle() for line in growth.figure.legends[0].get_lines()
    }
    assert (handles["P@3"], handles["nDCG@3"]) == ("-", "--")
    records += [forest("delicious", "ldsm-mean", p1=0.3)]
    growth, *others = draw(tmp_path / "both", "1", *records).axes
    assert growth.get_title() == "delicious"
    assert curve(growth, "P@1").get_ydata()[0] == pytest.approx(35)
    assert not any(axes.get_lines() for axes in others)


def test_depth_is_drawn_over_number_of_labels_with_balanced_trees(tmp_path):
    values = {"arity": 4, "lambda_1": 2.0, "lambda_2": 1.0, "n_trees": 3}
    (axes,) = draw(tmp_path, "2", forest(), forest("bibtex", hyperparameters=values)).axes
    assert axes.get_xscale() == "log"
    trees = curve(axes, "LdSM")
    assert [14, 7] in trees.get_xydata().tolist()
    for arity in (2, 4):
        double = curve(axes, f"2 log{chr(ord('₀') + arity)} K")
        expected = [2 * math.log(size, arity) for size in double.get_xdata()]
        assert double.get_ydata().tolist() == pytest.approx(expected)
        assert min(double.get_xdata()) < 14 < max(double.get_xdata())
    assert {text.get_text() for text in axes.texts} == {"yeast, M = 2", "bibtex, M = 4"}
    labels = {text.get_text() for text in axes.figure.legends[0].get_texts()}
    assert labels == {"LdSM", *(f"{f} log{a} K" for a, f in product("₂₄", (1, 2, 3)))}


def test_single_trees_are_drawn_next_to_ensembles(tmp_path):
    singles = [
        ranking(model=f"{name}-single", p1=p1) for name, p1 in (("ldsm", 0.66), ("fastxml", 0.55))
    ]
    (axes,) = draw(tmp_path, "6", forest(p1=0.6), forest(model="fastxml", p1=0.5), *singles).axes
    expected = {
        "LdSM-1": 65,
        "LdSM-1*": 66,
        "FastXML-1": 55,
        "FastXML-1*": 55,
        "LdSM-3": 75,
        "FastXML-3": 65,
    }
    p1 = curve(axes, "P@1")
    assert dict(zip(p1.get_ydata(orig=True), p1.get_xdata(), strict=True)) == pytest.approx(
        expected
    )
    # on top
    assert [text.get_text() for text in axes.get_yticklabels()][-2:] == ["FastXML-1", "LdSM-1"]
    assert curve(axes, "nDCG@5").get_markerfacecolor() == "white"
    (axes,) = draw(tmp_path / "few", "6", forest()).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["LdSM-3", "LdSM-1"]


@pytest.mark.parametrize(("number", "trees"), [("3", 1), ("7", 2)])
def test_objectives_are_drawn_level_by_level(tmp_path, number, trees):
    panels = draw(tmp_path, number, forest(), forest(model="ldsm-mean")).axes
    assert [axes.get_title() for axes in panels] == [
        f"yeast, tree {tree + 1}" for tree in range(trees)
    ]
    line = curve(panels[-1], "2 (2)")
    assert line.get_xdata().tolist() == [1, 2]
    assert line.get_ydata().tolist() == pytest.approx([-0.2, -0.4])
    # A tree with fewer than five levels has one line for each of them.
    assert [drawn.get_xdata().tolist() for drawn in panels[-1].get_lines()[:3]] == [[1, 2]] * 3
    assert [curve(panels[0], f"_bound {bound}").get_ydata()[0] for bound in (-2.0, 1.0)] == [-2, 1]
    legend = panels[-1].get_legend()
    assert (legend.get_title().get_text(), len(legend.get_texts())) == ("level (nodes)", 3)


def test_forests_without_objectives_or_shapes_leave_an_empty_panel(tmp_path):
    records = [forest(model="ldsm-mean"), forest("bibtex", "ldsm-mean", objectives=[])]
    drawn, empty = draw(tmp_path, "3", *records).axes
    assert drawn.get_lines()
    assert [text.get_text() for text in empty.texts] == ["no record"]
    with raises_with(XmlcError, "figure2"):
        draw(tmp_path / "none", "2", forest(trees=None))
