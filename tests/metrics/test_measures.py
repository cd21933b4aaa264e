"""The list of measures: what tables take of it, and that one file is all that a further measure takes."""

import subprocess
import sys

import numpy as np
from report_cases import ranking, write

from xmlc.metrics import classification_metrics, propensities
from xmlc.metrics.measures import BY_NAME, MAXIMA, RANKING_METRICS, SET_METRICS
from xmlc.metrics.ranking import ranking_metrics
from xmlc.numbers.made_of import MadeOf
from xmlc.papers.building import build_table


def test_a_record_has_every_measure_once():
    rng = np.random.default_rng(1)
    Y, labels = rng.random((6, 8)) < 0.4, np.argsort(rng.random((6, 8)))[:, :5].astype(np.int32)
    found = [*ranking_metrics(Y, labels, propensities(Y)), *classification_metrics(Y, rng.random((6, 8)) < 0.4)]
    assert found == list(BY_NAME)
    assert {*RANKING_METRICS, *MAXIMA, *SET_METRICS} <= BY_NAME.keys()


def test_only_a_wrong_label_and_nothing_else_is_better_when_lower():
    better = {name: measure.better for name, measure in BY_NAME.items()}
    assert {name for name, way in better.items() if way == "lower"} == {"hamming_loss"}
    assert {name for name, way in better.items() if way is None} == {*MAXIMA, "predicted_per_instance"}


def test_the_list_needs_no_kernels():
    code = "import sys, xmlc.metrics.measures, xmlc.numbers.columns; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# A name that no measure has; a measure of rankings is the recipe of CONTRIBUTING.md, see test_contributing.py.


def test_records_without_a_further_measure_have_no_column_of_it(tmp_path, monkeypatch):
    import xmlc.records.ranking as module

    monkeypatch.setattr(module, "FURTHER_RANKING_METRICS", ("made-up@5",))
    table = build_table(MadeOf("table1", "demo", tuple(write(tmp_path, [ranking()]))))
    assert "made-up@5" not in table.frame
