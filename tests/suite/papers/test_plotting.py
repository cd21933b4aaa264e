"""Test that figures fit one or two columns of a paper, and that their files are reproducible."""

import re

import pytest
from matplotlib.text import Text
from report_cases import every_method, forest, ranking, sweep, write

from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.plan import FIGURE_FILES
from xmlc.suite.papers.plotting import BOTH, COLUMN, apart, panels, write_figure

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


def test_labels_on_logarithmic_axis_do_not_overlap():
    sizes = [16, 64, 256, 1024, 2048, 4096, 16384, 32768]
    assert apart(sizes) == {16, 256, 4096, 32768}
    assert apart(sizes[:4]) == set(sizes[:4])
    assert apart([]) == set()
