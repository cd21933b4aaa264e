"""Test that figures fit one or two columns of a paper, and that their files are reproducible."""

import re
from itertools import combinations

import matplotlib as mpl
import pytest
from matplotlib.text import Text
from report_cases import every_method, forest, ranking, sweep, write

from xmlc.suite.papers import plotting
from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.plan import FIGURE_FILES
from xmlc.suite.papers.plotting import BLUE, BOTH, COLUMN, panels, write_figure

DATASETS = ("yeast", "bibtex", "delicious")
FORESTS = [forest(name, **more) for name in DATASETS for more in ({}, {"model": "ldsm-mean"}, {"model": "fastxml"})]
RANKINGS = [
    ranking(name, model, seconds=2.0) for name in DATASETS for model in ("ldsm-single", "plt", "omikuji-parabel")
]
SWEEPS = [sweep(name) for name in DATASETS]
THRESHOLDS = [record for name in DATASETS for model in ("plt", "oracle") for record in every_method(name, model)]
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
    ("number", "together", "shape", "width"),
    [(1, 1, (1, 1), COLUMN), (2, 1, (1, 2), COLUMN), (4, 1, (1, 4), BOTH), (6, 1, (2, 3), BOTH), (5, 1, (2, 3), BOTH),
     (2, 2, (1, 2), COLUMN), (6, 2, (2, 4), BOTH), (3, 3, (1, 3), BOTH), (6, 3, (2, 3), BOTH), (5, 5, (1, 5), BOTH)],
)  # fmt: skip
def test_panels_share_a_row_while_they_are_wide_enough(number, together, shape, width):
    sheet, grid = panels(number, 1.6, together)
    assert len(grid) == len(sheet.axes) == number
    assert grid[0].get_gridspec().get_geometry() == shape
    assert sheet.get_figwidth() == width


def test_same_figure_gives_identical_files_with_fonts(tmp_path):
    paths = write(tmp_path / "records", RANKINGS)
    one, two = (write_figure(draw_figure("pareto", "demo", paths), tmp_path / name) for name in ("one", "two"))
    assert [file.name for file in one] == [f"one.{ending}" for ending in FIGURE_FILES]
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in two]
    pdf = (tmp_path / "one.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"Date" not in pdf
    (width,) = re.findall(rb"/MediaBox \[ 0 0 (\S+)", pdf)
    assert float(width) == pytest.approx(487 * 72 / 72.27)
    assert ">omikuji Parabel</text>" in (tmp_path / "one.svg").read_text()


def overlaps(texts):
    """Return the pairs of texts that overlap by more than a pixel."""
    boxes = [(text.get_text(), Text.get_window_extent(text).padded(-1)) for text in texts if text.get_text()]
    return [(name, other) for (name, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]


@pytest.mark.parametrize(
    ("limits", "values", "shown"),
    [((0.01, 10), (), "0.01 0.03 0.1 0.3 1 3 10"), ((0.3, 0.55), (), "0.3 0.35 0.4 0.45 0.5 0.55"),
     ((1e-4, 1e5), (), "0.0001 0.01 1 100 10,000"), ((0.97, 0.98), (), "0.97 0.972 0.974 0.976 0.978 0.98"),
     ((0.84, 1.95), (), "0.9 1.2 1.5 1.8"),
     ((16, 32768), (16, 64, 256, 1024, 2048, 4096, 16384, 32768), "64 1,024 4,096 32,768")],
)  # fmt: skip
@mpl.rc_context(plotting.SETTINGS)
def test_labels_on_logarithmic_axis_do_not_overlap(limits, values, shown):
    sheet, (axes,) = panels(1)
    axes.set(xscale="log", xlim=limits)
    plotting.log_ticks(axes.xaxis, values)
    sheet.draw_without_rendering()
    assert " ".join(text.get_text() for text in axes.get_xticklabels()) == shown
    assert not overlaps(axes.get_xticklabels())
    assert not axes.xaxis.get_minorticklocs().size


@mpl.rc_context(plotting.SETTINGS)
def test_names_of_points_and_lines_do_not_overlap():
    sheet, (left, right) = panels(2, 2)
    names = [f"name {place}" for place in range(12)]
    for place, name in enumerate(names):
        left.plot([1 + place % 4 / 50], [1 + place // 4 / 20], "o", color=BLUE, label=name)
        right.plot([0, 1], [0, place / 50], label=name)
    left.set(xlim=(0, 2), ylim=(0, 2))
    right.plot([0, 1], [0, 5], label="_without a name")
    plotting.label_lines([left, right])
    plotting.label_points([left])
    sheet.draw_without_rendering()
    for axes in (left, right):
        assert [text.get_text() for text in axes.texts] == names
        assert not overlaps(axes.texts)
    assert {text.get_color() for text in left.texts} == {plotting.dark(BLUE)}
