"""Figure 1 of plt2016 shows the numbers of the records."""

import pytest
from facts import raises_with
from matplotlib.colors import to_hex
from report_cases import GRID, every_method, ranking, thresholds, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.common.curves import STYLES


def lines_of(axes):
    return {line.get_label().strip("_"): line for line in axes.get_lines() if line.get_label() != "_chosen"}


def test_lines_have_values_and_styles_of_their_methods(tmp_path):
    (axes,) = draw_figure("1", "demo", write(tmp_path, [ranking(), *every_method()])).axes
    lines = lines_of(axes)
    assert set(lines) == {f"{method}, validation" for method in ("STO", "FTA", "OFO")} | {"STO", "FTA", "OFO"}
    assert {text.get_text() for text in axes.texts} == {"STO", "FTA", "OFO"}
    for method, score in (("fta", 40), ("sto", 35), ("ofo", 42)):
        validation, test = lines[f"{method.upper()}, validation"], lines[method.upper()]
        assert validation.is_dashed()
        assert not test.is_dashed()
        for line in (validation, test):
            assert to_hex(line.get_color()) == STYLES[method]["color"].lower()
            assert line.get_xdata().tolist() == [1 / c for c in sorted(GRID, reverse=True)]
        assert test.get_ydata().tolist() == pytest.approx([score - 1, score, score - 1])
        assert validation.get_ydata().max() == pytest.approx(score + 10)


def test_seeds_are_averaged_and_chosen_values_are_marked(tmp_path):
    records = [thresholds(seed=0, f=0.4, chosen=2), thresholds(seed=1, f=0.5, chosen=100)]
    (axes,) = draw_figure("1", "demo", write(tmp_path, records)).axes
    assert lines_of(axes)["FTA"].get_ydata().tolist() == pytest.approx([44.5, 44, 44.5])
    (marks,) = (line for line in axes.get_lines() if line.get_label() == "_chosen")
    assert (marks.get_xdata().tolist(), marks.get_marker()) == ([0.01, 0.5], STYLES["fta"]["marker"])


def test_figure_has_a_panel_for_each_model_and_dataset(tmp_path):
    records = every_method("yeast") + every_method("scene") + every_method("scene", "oracle")
    figure = draw_figure("1", "demo", write(tmp_path, records))
    assert [axes.get_title() for axes in figure.axes] == ["PLT", "oracle", "PLT", "oracle"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["yeast", "", "scene", ""]
    assert [len(lines_of(axes)) for axes in figure.axes] == [6, 0, 6, 6]
    assert [text.get_text() for text in figure.axes[1].texts] == ["no record"]


def test_longer_list_is_horizontal_and_wraps_into_rows(tmp_path):
    models = ["plt", "fastxml", "swnn", "oracle", "parabel", "br", "ldsm"]
    records = [record for name in ("yeast", "scene") for model in models for record in every_method(name, model)]
    axes = draw_figure("1", "demo", write(tmp_path, records)).axes
    titles = ["PLT", "FastXML", "SWNN", "oracle", "Parabel", "BR", "LdSM", ""]
    assert [one.get_title() for one in axes] == 2 * titles
    assert [one.get_ylabel() for one in axes[::4]] == ["yeast", "yeast", "scene", "scene"]
    assert [place for place, one in enumerate(axes) if one.get_xlabel()] == [12, 13, 14, 15]
    assert not axes[7].lines
    assert axes[0].get_shared_y_axes().joined(axes[0], axes[6])
    assert not axes[0].get_shared_y_axes().joined(axes[0], axes[8])


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
