"""Figure 1 of gfm2011 shows the numbers of the simulation record."""

import pytest
from record_cases import MODELS, TIMED, simulation
from report_cases import write

from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.gfm2011.figures import STYLES
from xmlc.suite.results.titles import method_title


def test_panels_show_numbers_of_the_record(tmp_path):
    content = simulation()
    figure = draw_figure("1", "gfm2011", write(tmp_path, [content]))
    *panels, last = figure.axes
    assert panels[0].get_title() == "25 independent labels, 3 trials"
    assert last.get_title() == "200 samples, 3 trials, threads: 1"
    for axes, name in zip(panels, MODELS, strict=True):
        model = content["models"][name]
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert lines.pop("maximum").get_ydata().tolist() == pytest.approx(
            2 * [100 * model["optimum"]]
        )
        assert {*lines} == {*map(method_title, model["methods"])}
        for method, scores in model["methods"].items():
            line = lines[method_title(method)]
            assert line.get_xdata().tolist() == [5, 10]
            assert line.get_ydata().tolist() == pytest.approx([100 * f for f in scores["mean"]])
        # The band of the first method extends by a standard error.
        band = axes.collections[1].get_paths()[0].vertices[:, 1]
        first = model["optimum"] - 0.1
        assert (band.min(), band.max()) == pytest.approx(
            (100 * (first - 0.06), 100 * (first + 0.02))
        )
    assert last.get_yscale() == "log"
    times = {line.get_label(): line for line in last.get_lines()}
    assert times["GFM"].get_xdata().tolist() == [10, 20]
    assert times["GFM"].get_ydata().tolist() == pytest.approx([10, 100])
    assert last.get_ylabel() == "time (µs)"
    assert len(times) == len(TIMED)
    assert STYLES["color"].is_unique
    assert STYLES["marker"].is_unique
