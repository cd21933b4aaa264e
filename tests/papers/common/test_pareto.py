"""The Pareto picture: who is on the front, and labels that cover nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from report_cases import ranking, write

from xmlc.core.errors import XmlcError
from xmlc.papers.building import draw_figure
from xmlc.papers.common.figures import FAMILIES, pareto_front, place_labels, text_size
from xmlc.papers.plotting import write_figure
from xmlc.papers.tables.titles import family, model_title

MODELS = {
    "plt": (0.6, 2),
    "plt-batch": (0.63, 4),
    "napkinxc-br": (0.64, 40),
    "omikuji-parabel": (0.62, 9),
    "vw-plt": (0.5, 1),
}


def records(datasets=("yeast", "bibtex")):
    return [ranking(name, model, p1=p1, seconds=s) for name in datasets for model, (p1, s) in MODELS.items()]


def points(axes):
    return {line.get_label(): line for line in axes.get_lines() if line.get_label() != "_front"}


def test_a_panel_for_each_dataset_and_cost(tmp_path):
    figure = draw_figure("pareto", "demo", write(tmp_path, records()))
    assert len(figure.axes) == 4
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["yeast", "", "bibtex", ""]
    assert [axes.get_xlabel().split()[0] for axes in figure.axes] == ["training", "prediction"] * 2
    for axes in figure.axes:
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.texts] == [model_title(model) for model in MODELS]
    found = points(figure.axes[0])
    for model, (p1, seconds) in MODELS.items():
        assert found[model].get_xdata()[0] == seconds
        assert found[model].get_ydata()[0] == pytest.approx(100 * p1)
        assert to_hex(found[model].get_color()) == FAMILIES[family(model)]["color"].lower()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*FAMILIES, "Pareto front"]


def test_the_front_is_drawn_from_the_cheapest_to_the_best(tmp_path):
    training, prediction, *_ = draw_figure("pareto", "demo", write(tmp_path, records())).axes
    (line,) = (line for line in training.get_lines() if line.get_label() == "_front")
    assert line.get_ydata().tolist()[:-1] == pytest.approx([50, 60, 63, 64])
    assert line.get_xdata().tolist()[:-1] == [1, 2, 4, 40]
    # All predict at the same cost: only the best is not beaten.
    (line,) = (line for line in prediction.get_lines() if line.get_label() == "_front")
    assert line.get_ydata().tolist() == pytest.approx([64, 64])


def test_seeds_are_averaged_and_an_oracle_has_no_place(tmp_path):
    oracle = ranking(model="oracle")
    oracle["costs"] |= {"train_seconds": None, "predict_ms_per_instance": None}
    given = [ranking(seed=0, p1=0.5, seconds=2.0), ranking(seed=1, p1=0.6, seconds=4.0), oracle]
    axes = draw_figure("pareto", "demo", write(tmp_path, given)).axes[0]
    assert list(points(axes)) == ["plt"]
    assert (points(axes)["plt"].get_xdata()[0], points(axes)["plt"].get_ydata()[0]) == pytest.approx((3, 55))
    with pytest.raises(XmlcError, match="no record has training seconds"):
        draw_figure("pareto", "demo", write(tmp_path / "oracle", [oracle]))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_the_front_is_what_no_other_beats(places):
    front = [places[i] for i in pareto_front(*zip(*places))]
    beaten = {
        (cost, quality)
        for cost, quality in places
        for c, q in places
        if (c <= cost and q > quality) or (c < cost and q >= quality)
    }
    assert front == sorted(set(places) - beaten)


def overlap(one, other):
    return all(min(one[i + 2], other[i + 2]) > max(one[i], other[i]) + 1e-6 for i in (0, 1))


def test_labels_cover_neither_each_other_nor_points_nor_the_frame():
    frame = np.array([288.0, 209.0])
    rng = np.random.default_rng(0)
    sizes = [text_size(f"napkinXC PLT, number {i}") for i in range(11)]
    for _ in range(20):
        places = frame * rng.uniform(0.1, 0.9, size=(11, 2))
        places[1] = places[0] + 2  # two all but on one another
        labels = place_labels(places, sizes, frame)
        assert [label.place for label in labels] == list(range(11))
        corners = [place + label.offset for place, label in zip(places, labels)]
        boxes = [(*corner, *(corner + size)) for corner, size in zip(corners, sizes)]
        for i, box in enumerate(boxes):
            assert not any(overlap(box, other) for other in boxes[:i])
            assert not any(overlap(box, (x - 2, y - 2, x + 2, y + 2)) for x, y in places)
            assert box[0] >= 0
            assert box[1] >= 0
            assert box[2] <= frame[0]
            assert box[3] <= frame[1]


def test_same_bytes_twice(tmp_path):
    paths = write(tmp_path / "records", records())
    for name in ("one", "two"):
        write_figure(draw_figure("pareto", "demo", paths), tmp_path / name)
    for suffix in (".svg", ".png"):
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()
    assert ">Vowpal Wabbit PLT</text>" in (tmp_path / "one.svg").read_text()
