"""Figure 1 of plt2016 shows the numbers of the records."""

from itertools import product

import pytest
from facts import raises_with
from matplotlib.colors import to_hex
from report_cases import GRID, every_method, ranking, thresholds, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.common.figures import COLOURS, MARKERS


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_lines_have_values_and_styles_of_their_methods(tmp_path):
    figure = draw_figure("1", "demo", write(tmp_path, [ranking(), *every_method()]))
    lines = lines_of(figure.axes[0])
    labels = {
        f"{method}, {part}"
        for method, part in product(("STO", "FTA", "OFO"), ("validation", "test", "chosen"))
    }
    assert {*lines} == labels == {text.get_text() for text in figure.legends[0].get_texts()}
    for method, score in (("fta", 40), ("sto", 35), ("ofo", 42)):
        validation = lines[f"{method.upper()}, validation"]
        test = lines[f"{method.upper()}, test"]
        assert validation.is_dashed()
        assert not test.is_dashed()
        for line in (validation, test):
            assert to_hex(line.get_color()) == COLOURS[method].lower()
            assert line.get_xdata().tolist() == [1 / c for c in sorted(GRID, reverse=True)]
        assert test.get_ydata().tolist() == pytest.approx([score - 1, score, score - 1])
        assert validation.get_ydata().max() == pytest.approx(score + 10)


def test_seeds_are_averaged_and_chosen_values_are_marked(tmp_path):
    records = [thresholds(seed=0, f=0.4, chosen=2), thresholds(seed=1, f=0.5, chosen=100)]
    lines = lines_of(draw_figure("1", "demo", write(tmp_path, records)).axes[0])
    assert lines["FTA, test"].get_ydata().tolist() == pytest.approx([44.5, 44, 44.5])
    marks = lines["FTA, chosen"]
    assert (marks.get_xdata().tolist(), marks.get_marker()) == ([0.01, 0.5], MARKERS["fta"])
    assert marks.get_ydata().tolist() == pytest.approx([44.5, 44.5])


def test_rows_are_datasets_and_columns_are_models(tmp_path):
    records = every_method("yeast") + every_method("scene") + every_method("scene", "oracle")
    figure = draw_figure("1", "demo", write(tmp_path, records))
    assert [axes.get_title() for axes in figure.axes] == ["PLT", "oracle", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "yeast\nmacro-F (%)",
        "",
        "scene\nmacro-F (%)",
        "",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "1/c", "1/c"]
    assert [len(lines_of(axes)) for axes in figure.axes] == [9, 0, 9, 9]
    assert [text.get_text() for text in figure.axes[1].texts] == ["no record"]
    assert figure.axes[0].get_shared_y_axes().joined(figure.axes[2], figure.axes[3])
    assert not figure.axes[0].get_shared_y_axes().joined(figure.axes[0], figure.axes[2])
    assert figure.axes[0].get_shared_x_axes().joined(figure.axes[0], figure.axes[3])


def test_unsuitable_records_are_refused(tmp_path):
    paths = write(tmp_path, [thresholds(method="ofo-ab")])
    with raises_with(XmlcError, "thresholds"):
        draw_figure("1", "demo", paths)
    with raises_with(XmlcError, "figure2", "demo"):
        draw_figure("2", "demo", paths)
    other = thresholds(seed=1)
    other["grid"] = other["grid"][1:]
    with raises_with(XmlcError, "plt", "fta", "yeast"):
        draw_figure("1", "demo", write(tmp_path, [thresholds(seed=0), other]))
