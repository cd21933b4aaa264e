"""The figures of ldsm2020 show the numbers of the records."""

import numpy as np
import pytest
from report_cases import forest, ranking, sweep, write

from xmlc.suite.papers.building import draw_figure


def draw(folder, number, *records):
    """Return the panels of a figure."""
    return draw_figure(number, "ldsm2020", write(folder, records)).axes


def curve(axes, label):
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line


def points(axes, label):
    return curve(axes, label).get_xydata()


def test_growth_is_averaged_over_seeds_with_a_panel_per_dataset(tmp_path):
    records = [forest(p1=0.5), forest(seed=1, p1=0.6), forest("bibtex", p1=0.3)]
    first, second = draw(tmp_path, "4", *records, forest(model="fastxml"))
    assert (first.get_title(), second.get_title()) == ("yeast", "bibtex")
    assert points(first, "P@1") == pytest.approx(np.array([[1, 60], [2, 65], [3, 70]]))
    assert not curve(first, "P@1").is_dashed()
    assert curve(second, "nDCG@5").get_ydata()[0] == pytest.approx(7)
    assert curve(second, "nDCG@5").is_dashed()


def test_scores_and_depths_are_drawn_over_sizes(tmp_path):
    scores, depths = draw(tmp_path, "5", sweep())
    assert scores.get_xscale() == depths.get_xscale() == "log"
    assert points(scores, "P@1") == pytest.approx(np.array([[16, 60], [64, 62], [256, 64]]))
    assert points(depths, "depth").tolist() == [[16, 3], [64, 5], [256, 7]]


def test_first_figure_shows_delicious_or_the_first_dataset(tmp_path):
    records = [forest("yeast", "ldsm-mean"), sweep("yeast"), ranking(model="ldsm-single")]
    panels = draw(tmp_path, "1", *records)
    assert [axes.get_title() for axes in panels] == ["yeast"] * 4
    places = [("P@1", [1, 2, 3]), ("P@1", [16, 64, 256]), ("depth", [16, 64, 256])]
    for axes, (label, expected) in zip(panels, places):
        assert curve(axes, label).get_xdata().tolist() == expected
    lines = panels[0].figure.legends[0].get_lines()
    styles = {line.get_label(): line.get_linestyle() for line in lines}
    assert (styles["P@3"], styles["nDCG@3"]) == ("-", "--")
    delicious = forest("delicious", "ldsm-mean", p1=0.3)
    growth, *others = draw(tmp_path / "both", "1", *records, delicious)
    assert growth.get_title() == "delicious"
    assert curve(growth, "P@1").get_ydata()[0] == pytest.approx(35)
    assert not any(axes.get_lines() for axes in others)


def test_depth_is_drawn_over_number_of_labels_with_balanced_trees(tmp_path):
    values = {"arity": 4, "lambda_1": 2.0, "lambda_2": 1.0, "n_trees": 3}
    (axes,) = draw(tmp_path, "2", forest(), forest("bibtex", hyperparameters=values))
    assert axes.get_xscale() == "log"
    assert [14, 7] in points(axes, "LdSM").tolist()
    for arity, below in ((2, "₂"), (4, "₄")):
        for factor in (1, 2, 3):
            sizes, depths = points(axes, f"{factor} log{below} K").T
            assert depths == pytest.approx(factor * np.log(sizes) / np.log(arity))
            assert sizes.min() < 14 < sizes.max()
    assert {text.get_text() for text in axes.texts} == {"yeast, M = 2", "bibtex, M = 4"}
    assert len(axes.figure.legends[0].get_texts()) == 7


def test_single_trees_are_drawn_next_to_ensembles(tmp_path):
    singles = [ranking(model="ldsm-single", p1=0.66), ranking(model="fastxml-single", p1=0.55)]
    (axes,) = draw(tmp_path, "6", forest(p1=0.6), forest(model="fastxml", p1=0.5), *singles)
    p1 = curve(axes, "P@1")
    found = dict(zip(p1.get_ydata(orig=True), p1.get_xdata(), strict=True))
    expected = {"LdSM-1": 65, "LdSM-1*": 66, "FastXML-1": 55, "FastXML-1*": 55}
    assert found == pytest.approx(expected | {"LdSM-3": 75, "FastXML-3": 65})
    # on top
    assert [text.get_text() for text in axes.get_yticklabels()][-2:] == ["FastXML-1", "LdSM-1"]
    assert curve(axes, "nDCG@5").get_markerfacecolor() == "white"
    (axes,) = draw(tmp_path / "alone", "6", forest())
    assert [text.get_text() for text in axes.get_yticklabels()] == ["LdSM-3", "LdSM-1"]


@pytest.mark.parametrize(("number", "trees"), [("3", [1]), ("7", [1, 2])])
def test_objectives_are_drawn_level_by_level(tmp_path, number, trees):
    panels = draw(tmp_path, number, forest(), forest(model="ldsm-mean"))
    assert [axes.get_title() for axes in panels] == [f"yeast, tree {tree}" for tree in trees]
    axes = panels[-1]
    assert points(axes, "2 (2)") == pytest.approx(np.array([[1, -0.2], [2, -0.4]]))
    # A tree with fewer than five levels has one line for each of them.
    assert [line.get_xdata().tolist() for line in axes.get_lines()[:3]] == [[1, 2]] * 3
    for bound in (-2.0, 1.0):
        assert curve(axes, f"_bound {bound}").get_ydata()[0] == bound
    assert axes.get_legend().get_title().get_text() == "level (nodes)"
    assert len(axes.get_legend().get_texts()) == 3


def test_forest_without_objectives_leaves_an_empty_panel(tmp_path):
    records = [forest(model="ldsm-mean"), forest("bibtex", "ldsm-mean", objectives=[])]
    assert [bool(axes.get_lines()) for axes in draw(tmp_path, "3", *records)] == [True, False]
