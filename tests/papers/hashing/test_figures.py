"""The figure of collisions: where its points and lines are."""

import pytest
from report_cases import ranking, thresholds, write

from xmlc.core.errors import XmlcError
from xmlc.papers.building import draw_figure

EXACT_BYTES = 2_500_000  # of every record


def hashed(bits, p1, f):
    about = {"model": f"plt-hashed-{bits}", "hyperparameters": {"hash_bits": bits}}
    return [ranking(p1=p1, **about), thresholds(method="fta", f=f, **about), thresholds(method="ofo", f=f / 2, **about)]


EXACT = [ranking(p1=0.75), thresholds(method="fta", f=0.4), thresholds(method="ofo", f=0.3)]


def test_scores_stand_above_the_slots_for_each_weight(tmp_path):
    records = [*hashed(20, 0.7, 0.38), *hashed(14, 0.5, 0.2), *EXACT]
    precision, macro = draw_figure("collisions", "hashing", write(tmp_path, records)).axes
    slots = [4 * 2**14 / EXACT_BYTES, 4 * 2**20 / EXACT_BYTES]
    curve, exact = precision.get_lines()
    assert curve.get_xdata().tolist() == pytest.approx(slots)
    assert curve.get_ydata().tolist() == pytest.approx([50, 70])
    assert list(exact.get_ydata()) == pytest.approx([75, 75])
    lines = {line.get_label(): line.get_ydata() for line in macro.get_lines()}
    assert lines["FTA"].tolist() == pytest.approx([20, 38])
    assert lines["OFO"].tolist() == pytest.approx([10, 19])
    assert list(lines["FTA, exact weights"]) == pytest.approx([40, 40])
    assert (precision.get_title(), precision.get_ylabel(), macro.get_xlabel()) == (
        "yeast", "P@1 (%)", "slots per weight"
    )  # fmt: skip


def test_without_the_exact_model_there_is_no_abscissa(tmp_path):
    with pytest.raises(XmlcError, match="no record of the model plt with the size of its files"):
        draw_figure("collisions", "hashing", write(tmp_path, hashed(14, 0.5, 0.2)))
