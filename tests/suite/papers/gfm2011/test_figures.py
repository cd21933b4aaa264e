"""Figure 1 of gfm2011 shows the numbers of the simulation record."""

import pytest
from matplotlib.colors import to_hex
from record_cases import TIMED, simulation
from report_cases import write

from xmlc.suite.papers.building import draw_figure
from xmlc.suite.papers.gfm2011.figures import APART, PANELS, STYLES


def test_panels_show_numbers_of_the_record(tmp_path):
    content = simulation(environment={"cpu": "a machine"})
    figure = draw_figure("1", "gfm2011", write(tmp_path, [content]))
    *panels, last = figure.axes
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        model = content["models"][name]
        assert axes.get_title() == title
        (optimum,) = (line for line in axes.get_lines() if line.get_label() == "maximum")
        assert set(optimum.get_ydata()) == {model["optimum"]}
        curves = [container.lines[0] for container in axes.containers]
        assert [line.get_ydata().tolist() for line in curves] == [s["mean"] for s in model["methods"].values()]
        for number, line in enumerate(curves):
            assert line.get_xdata().tolist() == pytest.approx([5 + APART * number, 10 + APART * number])
        (bars,) = axes.containers[1].lines[2]
        low, high = (point[1] for point in bars.get_segments()[1])
        assert (low, high) == pytest.approx((model["optimum"] - 0.05 - 0.02, model["optimum"] - 0.05 + 0.02))
    assert last.get_yscale() == "log"
    times = {line.get_label(): line for line in last.get_lines() if not line.get_label().startswith("_")}
    assert times["GFM"].get_ydata().tolist() == pytest.approx([10, 100])
    assert last.get_ylabel() == "time (µs)"
    assert "mean of 3 trials" in figure.get_supxlabel()
    assert len(times) == len(TIMED)
    assert to_hex(times["MEUF"].get_color()) == STYLES["meuf"]["color"].lower()
    looks = {(style["color"], style["marker"]) for style in STYLES.values()}
    assert len(looks) == len({color for color, _ in looks}) == len({marker for _, marker in looks}) == len(STYLES)
