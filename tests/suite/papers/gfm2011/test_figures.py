"""Figure 1 of gfm2011 shows the numbers of the simulation record."""

import numpy as np
import pytest
from record_cases import MODELS, TIMED, simulation
from report_cases import write

from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.gfm2011.figures import STYLES
from xmlc.suite.results.titles import method_title


def test_panels_show_numbers_of_the_record(tmp_path):
    content = simulation()
    *panels, last = draw_figure("1", "gfm2011", write(tmp_path, [content])).axes
    assert panels[0].get_title() == "25 independent labels, 3 trials"
    assert last.get_title() == "200 samples, 3 trials, threads: 1"
    for axes, name in zip(panels, MODELS, strict=True):
        model = content["models"][name]
        optimum = 100 * model["optimum"]
        expected = {"maximum": [optimum, optimum]}
        for method, scores in model["methods"].items():
            expected[method_title(method)] = [100 * f for f in scores["mean"]]
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert lines.keys() == expected.keys()
        for label, line in lines.items():
            assert line.get_ydata() == pytest.approx(expected[label])
        assert lines["GFM"].get_xdata().tolist() == [5, 10]
        # The band of the first method extends by a standard error.
        band = axes.collections[1].get_paths()[0].vertices[:, 1]
        first = optimum - 10
        assert (band.min(), band.max()) == pytest.approx((first - 6, first + 2))
    assert last.get_yscale() == "log"
    times = {line.get_label(): line for line in last.get_lines()}
    assert times["GFM"].get_xydata() == pytest.approx(np.array([[10, 10], [20, 100]]))
    assert last.get_ylabel() == "time (µs)"
    assert len(times) == len(TIMED)
    assert STYLES["color"].is_unique
    assert STYLES["marker"].is_unique
