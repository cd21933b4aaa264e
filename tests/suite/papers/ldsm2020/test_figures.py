"""The figures of ldsm2020 show the numbers of the records."""

import math

import pytest
from report_cases import forest, ranking, sweep, write

from xmlc.suite.papers.building import draw_figure


def draw(folder, number, *records):
    return draw_figure(number, "ldsm2020", write(folder, records))


def curve(axes, label):
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line


def test_growth_is_averaged_over_seeds_with_a_panel_per_dataset(tmp_path):
    records = [forest(p1=0.5), forest(seed=1, p1=0.6), forest("bibtex", p1=0.3), forest(model="fastxml")]
    first, second = draw(tmp_path, "4", *records).axes
    assert (first.get_title(), second.get_title()) == ("yeast", "bibtex")
    line = curve(first, "P@1")
    assert line.get_xdata().tolist() == [1, 2, 3]
    assert line.get_ydata().tolist() == pytest.approx([60, 65, 70])
    assert curve(second, "nDCG@5").get_ydata()[0] == pytest.approx(7)
    assert curve(second, "nDCG@5").is_dashed()
    assert not line.is_dashed()


def test_ticks_show_size_above_depth(tmp_path):
    (axes,) = draw(tmp_path, "5", sweep()).axes
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["16\n3", "64\n5", "256\n7"]
    assert curve(axes, "P@1").get_ydata().tolist() == pytest.approx([60, 62, 64])


def test_depth_is_drawn_over_number_of_labels_with_balanced_trees(tmp_path):
    values = {"arity": 4, "lambda_1": 2.0, "lambda_2": 1.0, "n_trees": 3}
    (axes,) = draw(tmp_path, "2", forest(), forest("bibtex", hyperparameters=values)).axes
    assert axes.get_xscale() == "log"
    line = curve(axes, "yeast, M = 2")
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (14, 7)
    for arity in (2, 4):
        double = curve(axes, f"2 log{chr(ord('₀') + arity)} K")
        expected = [2 * math.log(size, arity) for size in double.get_xdata()]
        assert double.get_ydata().tolist() == pytest.approx(expected)
        assert min(double.get_xdata()) < 14 < max(double.get_xdata())
    names = {text.get_text() for text in axes.texts}
    assert names == {"yeast, M = 2", "bibtex, M = 4", *(f"{f} log{a} K" for a in "₂₄" for f in (1, 2, 3))}


def test_single_trees_are_drawn_next_to_ensembles(tmp_path):
    singles = [ranking(model=f"{name}-single", p1=p1) for name, p1 in (("ldsm", 0.66), ("fastxml", 0.55))]
    left, right = draw(tmp_path, "6", forest(p1=0.6), forest(model="fastxml", p1=0.5), *singles).axes
    names = [text.get_text() for text in left.get_yticklabels()]
    assert names == ["LdSM-1", "LdSM-1*", "FastXML-1", "FastXML-1*", "LdSM-3", "FastXML-3"]
    assert [bar.get_width() for bar in left.patches[::3]] == pytest.approx([65, 66, 55, 55, 75, 65])
    assert right.get_xlabel() == "nDCG@k (%)"
    without_search = draw(tmp_path / "few", "6", forest()).axes[0]
    assert [text.get_text() for text in without_search.get_yticklabels()] == ["LdSM-1", "LdSM-3"]


@pytest.mark.parametrize(("number", "trees"), [("3", 1), ("7", 2)])
def test_objectives_are_drawn_level_by_level(tmp_path, number, trees):
    panels = draw(tmp_path, number, forest(), forest(model="ldsm-mean")).axes
    assert [axes.get_title() for axes in panels] == [f"yeast, tree {tree + 1}" for tree in range(trees)]
    line = curve(panels[-1], "2 (2)")
    assert line.get_xdata().tolist() == [1, 2]
    assert line.get_ydata().tolist() == pytest.approx([-0.2, -0.4])
    assert [line.get_ydata()[0] for line in panels[0].get_lines() if line.get_label() == "_bound"] == [-2, 1]
