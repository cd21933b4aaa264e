"""Test that figures fit one or two columns of a paper, and that their files are reproducible."""

import re
from itertools import combinations, pairwise

import matplotlib as mpl
import pandas as pd
import pytest
from facts import raises_with
from matplotlib.cbook import pts_to_poststep
from matplotlib.path import Path
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
    draw_lines,
    means,
    panels,
    write_figure,
)

RANKINGS = []
THRESHOLDS = []
OF_LDSM = []
for name in ("yeast", "bibtex", "delicious"):
    RANKINGS += [ranking(name, model, seconds=2.0) for model in ("plt", "omikuji-parabel")]
    THRESHOLDS += every_method(name) + every_method(name, "oracle")
    OF_LDSM += [forest(name, model) for model in ("ldsm", "ldsm-mean", "fastxml")]
    OF_LDSM += [sweep(name), ranking(name, "ldsm-single")]
FIGURES = [
    ("plt2016", "1", THRESHOLDS),
    ("plt2016", "1", THRESHOLDS[:3]),
    ("demo", "pareto", RANKINGS),
    ("ldsm2020", "1", OF_LDSM),
    ("ldsm2020", "2", OF_LDSM),
    ("ldsm2020", "6", OF_LDSM),
    ("ldsm2020", "7", OF_LDSM),
]


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
    [
        (2, 0, (1, 2), COLUMN),
        (4, 0, (1, 4), BOTH),
        (5, 0, (2, 3), BOTH),
        (3, 1, (3, 1), COLUMN),
    ],
)
def test_panels_share_a_row_while_they_are_wide_enough(number, columns, shape, width):
    sheet, grid = panels(number, 1.6, 1.0, columns)
    assert len(grid) == len(sheet.axes) == number
    assert grid[0].get_gridspec().get_geometry() == shape
    assert sheet.get_figwidth() == width


def test_same_figure_gives_identical_files_with_fonts(tmp_path):
    paths = write(tmp_path / "records", RANKINGS[:2])
    one = write_figure(draw_figure("pareto", "demo", paths), tmp_path / "one")
    two = write_figure(draw_figure("pareto", "demo", paths), tmp_path / "two")
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
    boxes = []
    for text in texts:
        if text.get_text():
            boxes.append(Text.get_window_extent(text).padded(-1))
    return [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


LABELS = {
    (0.01, 10): "0.01 0.1 1 10",
    (0.02, 10): "0.03 0.1 0.3 1 3 10",
    (1e-3, 1e4): "0.001 0.01 0.1 1 10 100 1,000 10,000",
    (0.3, 0.55): "0.3 0.35 0.4 0.45 0.5 0.55",
    (0.97, 0.98): "0.97 0.972 0.974 0.976 0.978 0.98",
}


@pytest.mark.parametrize("limits", LABELS)
@mpl.rc_context(fname=plotting.SHEET)
def test_labels_on_logarithmic_axis_do_not_overlap(limits):
    sheet, (axes,) = panels(1, 2.0, 2.0)
    axes.set(xscale="log", xlim=limits)
    plotting.log_ticks(axes.xaxis)
    sheet.draw_without_rendering()
    inside = []
    for text in axes.get_xticklabels():
        if limits[0] * 0.999 <= text.get_position()[0] <= limits[1] * 1.001:
            inside.append(text)
    assert " ".join(text.get_text() for text in inside) == LABELS[limits]
    assert not overlaps(inside)
    assert not axes.xaxis.get_minorticklocs().size


@mpl.rc_context(fname=plotting.SHEET)
def test_names_of_points_do_not_overlap():
    sheet, (axes,) = panels(1, 2.0, 2.2)
    places = pd.Series(range(12))
    points = pd.DataFrame({"x": 1 + places % 4 / 50, "y": 1 + places // 4 / 20})
    points["name"] = [f"name {place}" for place in places]
    points = points.assign(label="points", color=BLUE, marker="o", linestyle="none")
    draw_lines(axes, points)
    axes.set(xlim=(0, 2), ylim=(0, 2))
    plotting.name_points(axes, points)
    sheet.draw_without_rendering()
    assert [text.get_text() for text in axes.texts] == [*points["name"]]
    assert not overlaps(axes.texts)


@mpl.rc_context(fname=plotting.SHEET)
def test_names_of_points_touch_no_line():
    sheet, (axes,) = panels(1, 2.4, 2.2)
    points = pd.DataFrame({"x": [1.0, 2.0, 4.0, 8.0], "y": [1.0, 2.0, 2.5, 3.0]})
    front = points.assign(label="front", color=BLUE, drawstyle="steps-post")
    named = points.assign(label="xmlc", color=BLUE, linestyle="none", name="a long name")
    draw_lines(axes, pd.concat([front, named]))
    axes.set(xscale="log")
    axes.margins(x=0.3)
    plotting.name_points(axes, named)
    sheet.draw_without_rendering()
    steps = pts_to_poststep(points["x"], points["y"]).T
    corners = axes.transData.transform(steps)
    for text in axes.texts:
        box = Text.get_window_extent(text)
        for start, end in pairwise(corners.tolist()):
            assert not Path([start, end]).intersects_bbox(box, filled=False), text


def test_misspelt_quantity_of_a_figure_is_refused():
    rows = {"dataset": "a", "model": "plt", "method": "", "variant": "", "record": "a.json"}
    numbers = pd.DataFrame([rows | {"quantity": "bits", "value": 1.0}])
    assert means(numbers, "", ["model"], "bits", "p@1")["bits"].tolist() == [1.0]
    for names in (["model"], "bit"), (["modle"], "bits"):
        with raises_with(XmlcError, "a.json", "expected"):
            means(numbers, "", *names)
