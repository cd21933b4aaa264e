"""Test that figures fit one or two columns of a paper, and that their files are reproducible."""

import re
from itertools import combinations, product

import matplotlib as mpl
import pandas as pd
import pytest
from facts import raises_with
from matplotlib.text import Text
from report_cases import every_method, forest, ranking, sweep, write

from xmlc.core.errors import XmlcError
from xmlc.suite.papers import plotting
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.plan import RESULTS
from xmlc.suite.papers.plotting import (
    BLUE,
    BOTH,
    COLUMN,
    GREEN,
    draw_lines,
    means,
    panels,
    write_figure,
)

DATASETS = ("yeast", "bibtex", "delicious")
FORESTS = [
    forest(name, **more)
    for name, more in product(DATASETS, ({}, {"model": "ldsm-mean"}, {"model": "fastxml"}))
]
RANKINGS = [
    ranking(name, model, seconds=2.0)
    for name, model in product(DATASETS, ("ldsm-single", "plt", "omikuji-parabel"))
]
SWEEPS = [sweep(name) for name in DATASETS]
THRESHOLDS = []
for name in DATASETS:
    for model in ("plt", "oracle"):
        THRESHOLDS += every_method(name, model)
FIGURES = [("plt2016", "1", THRESHOLDS), ("plt2016", "1", THRESHOLDS[:3])]
FIGURES += [("demo", "pareto", RANKINGS), ("demo", "pareto", RANKINGS[1:3])]
FIGURES += [("ldsm2020", str(number), [*FORESTS, *SWEEPS, *RANKINGS]) for number in range(1, 8)]


@pytest.mark.parametrize(("paper", "name", "records"), FIGURES)
def test_figure_fits_one_or_two_columns_and_is_readable(tmp_path, paper, name, records):
    sheet = draw_figure(name, paper, write(tmp_path, records))
    assert sheet.get_figwidth() in (COLUMN, BOTH)
    assert sheet.get_figheight() < 9
    sheet.draw_without_rendering()
    drawn = sheet.get_tightbbox()
    assert min(drawn.x0, drawn.y0) > -0.02
    assert drawn.x1 < sheet.get_figwidth() + 0.02
    assert drawn.y1 < sheet.get_figheight() + 0.02
    assert {text.get_fontsize() for text in sheet.findobj(Text) if text.get_text()} <= {7, 8}


@pytest.mark.parametrize(
    ("number", "columns", "shape", "width"),
    [(1, 0, (1, 1), COLUMN), (2, 0, (1, 2), COLUMN), (4, 0, (1, 4), BOTH), (6, 0, (2, 3), BOTH),
        (5, 0, (2, 3), BOTH),
     (3, 1, (3, 1), COLUMN), (6, 3, (2, 3), BOTH), (14, 7, (2, 7), BOTH)],
)  # fmt: skip
def test_panels_share_a_row_while_they_are_wide_enough(number, columns, shape, width):
    sheet, grid = panels(number, 1.6, 1.0, columns)
    assert len(grid) == len(sheet.axes) == number
    assert grid[0].get_gridspec().get_geometry() == shape
    assert sheet.get_figwidth() == width


def test_same_figure_gives_identical_files_with_fonts(tmp_path):
    paths = write(tmp_path / "records", RANKINGS)
    one, two = (
        write_figure(draw_figure("pareto", "demo", paths), tmp_path / name)
        for name in ("one", "two")
    )
    assert [file.name for file in one] == [f"one.{ending}" for ending in RESULTS["figure"][1]]
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in two]
    pdf = (tmp_path / "one.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"Date" not in pdf
    (width,) = re.findall(rb"/MediaBox \[ 0 0 (\S+)", pdf)
    assert float(width) == pytest.approx(487 * 72 / 72.27)
    assert ">Pareto front</text>" in (tmp_path / "one.svg").read_text()


def overlaps(texts):
    """Return the pairs of texts that overlap by more than a pixel."""
    boxes = [
        (text.get_text(), Text.get_window_extent(text).padded(-1))
        for text in texts
        if text.get_text()
    ]
    return [(name, other) for (name, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]


@pytest.mark.parametrize(
    ("limits", "shown"),
    [((0.01, 10), "0.01 0.1 1 10"), ((0.02, 10), "0.03 0.1 0.3 1 3 10"),
     ((1e-3, 1e4), "0.001 0.01 0.1 1 10 100 1,000 10,000"),
     ((0.3, 0.55), "0.3 0.35 0.4 0.45 0.5 0.55"),
     ((0.97, 0.98), "0.97 0.972 0.974 0.976 0.978 0.98")],
)  # fmt: skip
@mpl.rc_context(plotting.SETTINGS)
def test_labels_on_logarithmic_axis_do_not_overlap(limits, shown):
    sheet, (axes,) = panels(1, 2.0, 2.0)
    axes.set(xscale="log", xlim=limits)
    plotting.log_ticks(axes.xaxis)
    sheet.draw_without_rendering()
    low, high = limits
    inside = [
        text
        for text in axes.get_xticklabels()
        if low * 0.999 <= text.get_position()[0] <= high * 1.001
    ]
    assert " ".join(text.get_text() for text in inside) == shown
    assert not overlaps(inside)
    assert not axes.xaxis.get_minorticklocs().size


POINTS = [
    {"x": 1.0, "y": 1.0, "label": "line", "color": BLUE, "low": 0.5, "high": 2.0, "name": "first"},
    {"x": 2.0, "y": 3.0, "label": "line", "color": BLUE, "low": 2.5, "high": 4.0, "name": None},
    {"x": 1.5, "y": 2.0, "label": "_bound", "color": GREEN, "linestyle": "dotted"},
]


@mpl.rc_context(plotting.SETTINGS)
def test_points_become_lines_with_styles_bands_and_a_legend():
    sheet, (axes, other) = panels(2, 1.0, 1.0)
    height = sheet.get_figheight()
    for panel in (axes, other):
        draw_lines(panel, pd.DataFrame(POINTS))
    line, bound = axes.get_lines()
    assert line.get_xydata().tolist() == [[1, 1], [2, 3]]
    assert (line.get_color(), bound.get_color(), bound.get_linestyle()) == (BLUE, GREEN, ":")
    band = axes.collections[0].get_paths()[0].vertices.tolist()
    assert all(corner in band for corner in ([1, 0.5], [1, 2], [2, 2.5], [2, 4]))
    plotting.add_legend(sheet, [axes, other])
    (legend,) = sheet.legends
    assert [text.get_text() for text in legend.get_texts()] == ["line"]
    assert sheet.get_figheight() > height
    plotting.name_points(axes, pd.DataFrame(POINTS))
    assert [text.get_text() for text in axes.texts] == ["first"]


@mpl.rc_context(plotting.SETTINGS)
def test_names_of_points_do_not_overlap():
    sheet, (axes,) = panels(1, 2.0, 2.2)
    names = [f"name {place}" for place in range(12)]
    places = range(12)
    points = pd.DataFrame(
        {"x": [1 + i % 4 / 50 for i in places], "y": [1 + i // 4 / 20 for i in places]}
    )
    points = points.assign(label="points", name=names, color=BLUE, marker="o", linestyle="none")
    draw_lines(axes, points)
    axes.set(xlim=(0, 2), ylim=(0, 2))
    plotting.name_points(axes, points)
    sheet.draw_without_rendering()
    assert [text.get_text() for text in axes.texts] == names
    assert not overlaps(axes.texts)


def numbers_of(*rows):
    """Return numbers of a threshold method: seed, variant, quantity and value of each."""
    names = {"dataset": "yeast", "model": "plt", "method": "fta"}
    columns = ["record", "variant", "quantity", "value"]
    return pd.DataFrame(rows, columns=columns, dtype=object).assign(**names)


def test_means_are_taken_at_each_place_of_a_curve():
    curve = [(seed, f"grid {c}", name, value) for seed in (0, 1) for c in (2, 5)
             for name, value in (("c", c), ("macro_f", c + seed))]  # fmt: skip
    numbers = numbers_of(*curve, (0, "", "macro_f", 7.0), (0, "", "c", 2))
    assert means(numbers, "grid .*", ["method", "c"], "macro_f").to_numpy().tolist() == [
        ["fta", 2, 2.5],
        ["fta", 5, 5.5],
    ]
    assert means(numbers, "", ["model"], "macro_f")["macro_f"].tolist() == [7]
    with raises_with(XmlcError, "c", "fta", "yeast", "seeds lack"):
        means(numbers_of(*curve[:-2]), "grid .*", ["method", "c"], "macro_f")
