"""Figure 1 of plt2016 shows the numbers of the records."""

import numpy as np
import pytest
from facts import raises_with
from matplotlib.colors import to_hex
from report_cases import every_method, ranking, thresholds, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.common.figures import COLOURS, MARKERS


def draw(folder, *records):
    """Return the panels of the figure."""
    return draw_figure("1", "demo", write(folder, records)).axes


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_lines_have_values_and_styles_of_their_methods(tmp_path):
    (axes,) = draw(tmp_path, ranking(), *every_method())
    lines = lines_of(axes)
    assert len(lines) == 9
    assert {*lines} == {text.get_text() for text in axes.figure.legends[0].get_texts()}
    for method, score in (("fta", 40), ("sto", 35), ("ofo", 42)):
        validation = lines[f"{method.upper()}, validation"]
        test = lines[f"{method.upper()}, test"]
        assert (validation.is_dashed(), test.is_dashed()) == (True, False)
        for line in (validation, test):
            assert to_hex(line.get_color()) == COLOURS[method].lower()
            assert line.get_xdata().tolist() == [1 / 100, 1 / 10, 1 / 2]
        assert test.get_ydata() == pytest.approx([score - 1, score, score - 1])
        assert validation.get_ydata().max() == pytest.approx(score + 10)


def test_seeds_are_averaged_and_chosen_values_are_marked(tmp_path):
    (axes,) = draw(tmp_path, thresholds(chosen=2), thresholds(seed=1, f=0.5, chosen=100))
    lines = lines_of(axes)
    assert lines["FTA, test"].get_ydata() == pytest.approx([44.5, 44, 44.5])
    marks = lines["FTA, chosen"]
    assert marks.get_marker() == MARKERS["fta"]
    assert marks.get_xydata() == pytest.approx(np.array([[0.01, 44.5], [0.5, 44.5]]))


def test_rows_are_datasets_and_columns_are_models(tmp_path):
    records = every_method("yeast") + every_method("scene") + every_method("scene", "oracle")
    panels = draw(tmp_path, *records)
    assert [(axes.get_title(), axes.get_ylabel(), axes.get_xlabel()) for axes in panels] == [
        ("PLT", "yeast\nmacro-F (%)", ""),
        ("oracle", "", ""),
        ("", "scene\nmacro-F (%)", "1/c"),
        ("", "", "1/c"),
    ]
    assert [len(axes.get_lines()) for axes in panels] == [9, 0, 9, 9]
    assert [text.get_text() for text in panels[1].texts] == ["no record"]
    first, _, third, last = panels
    assert first.get_shared_y_axes().joined(third, last)
    assert not first.get_shared_y_axes().joined(first, third)
    assert first.get_shared_x_axes().joined(first, last)


def test_unsuitable_records_are_refused(tmp_path):
    with raises_with(XmlcError, "thresholds"):
        draw(tmp_path, thresholds(method="ofo-ab"))
    other = thresholds(seed=1)
    other["grid"] = other["grid"][1:]
    with raises_with(XmlcError, "plt", "fta", "yeast"):
        draw(tmp_path, thresholds(), other)
