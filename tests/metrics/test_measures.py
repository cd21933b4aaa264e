"""The list of measures: what tables take of it, and that one file is all that a further measure takes."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from report_cases import inference, ranking, thresholds, write
from repository import ROOT

from xmlc.metrics import classification_metrics, propensities
from xmlc.metrics.measures import ALL_MEASURES, BY_NAME, MAXIMA
from xmlc.metrics.ranking import ranking_metrics
from xmlc.numbers.made_of import MadeOf
from xmlc.papers.building import build_table


def test_a_record_has_every_measure_once():
    rng = np.random.default_rng(1)
    Y, labels = rng.random((6, 8)) < 0.4, np.argsort(rng.random((6, 8)))[:, :5].astype(np.int32)
    found = [*ranking_metrics(Y, labels, propensities(Y)), *classification_metrics(Y, rng.random((6, 8)) < 0.4)]
    assert found == [measure.name for measure in ALL_MEASURES]
    assert len(BY_NAME) == len(ALL_MEASURES)


def test_only_a_wrong_label_and_nothing_else_is_better_when_lower():
    better = {name: measure.better for name, measure in BY_NAME.items()}
    assert {name for name, way in better.items() if way == "lower"} == {"hamming_loss"}
    assert {name for name, way in better.items() if way is None} == {*MAXIMA, "predicted_per_instance"}


def test_the_list_needs_no_kernels():
    code = "import sys, xmlc.metrics.measures, xmlc.numbers.columns; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# A name that no measure has; a measure of rankings is the recipe of CONTRIBUTING.md, see test_contributing.py.
MADE_UP_SETS = '''

def made_up(Y: object, Y_hat: object) -> float:
    """Number of instances whose label set is predicted exactly."""
    return float(((as_labels(Y) != as_labels(Y_hat)).sum(axis=1) == 0).sum())


MEASURES += (Measure("made-up", "Made-up", lambda sets: made_up(sets.Y, sets.Y_hat), unit="", decimals=0),)
'''
USE = """
import json, sys
from pathlib import Path
import numpy as np
from xmlc.metrics import classification_metrics
from xmlc.numbers.made_of import MadeOf
from xmlc.papers.building import build_table, read_record
Y = np.eye(4, dtype=bool)
computed = classification_metrics(Y, Y[:, [0, 1, 3, 2]])
tables = {}
for name, paper, *paths in json.loads(sys.argv[1]):
    table = build_table(MadeOf(name, paper, tuple(map(Path, paths))))
    tables[f"{paper}/{name}"] = {column: table.frame[column].tolist() for column in table.frame}
(_, numbers), = read_record(Path(json.loads(sys.argv[1])[0][2])).numbers()
print(json.dumps([computed, tables, numbers], default=str))
"""


def in_a_copy(folder, text, tables):
    """Append a measure of label sets to its file in a copy of the package, and use it in a process of its own."""
    if not (folder / "xmlc").exists():
        shutil.copytree(ROOT / "xmlc", folder / "xmlc", ignore=shutil.ignore_patterns("__pycache__"))
    if text:
        source, computed = folder / "xmlc/metrics/classification.py", "\n\n\ndef classification_metrics"
        head, tail = source.read_text().split(computed, 1)
        source.write_text(f"{head}{text.rstrip()}{computed}{tail}")
    done = subprocess.run(
        [sys.executable, "-c", USE, json.dumps(tables)],
        capture_output=True, text=True, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_further_measure_of_label_sets_takes_one_file(tmp_path):
    found, inferred = thresholds(), inference()
    found["best"]["test"]["made-up"] = 2.0
    inferred["metrics"]["made-up"] = 3.0
    (first, second) = (str(path) for path in write(tmp_path / "records", [found, inferred]))
    tables = [["table2", "demo", first], ["table1", "gfm2011", second]]
    before = in_a_copy(tmp_path, "", tables)
    after = in_a_copy(tmp_path, MADE_UP_SETS, tables)
    assert after[0] == before[0] | {"made-up": 2.0}
    for name, value in (("demo/table2", 2.0), ("gfm2011/table1", 3.0)):
        assert after[1][name].pop("made-up") == [value]
        assert list(after[1][name]) == list(before[1][name])
    assert after[2] == before[2] | {"made-up": 2.0}


def test_records_without_a_further_measure_have_no_column_of_it(tmp_path, monkeypatch):
    import xmlc.records.ranking as module

    monkeypatch.setattr(module, "FURTHER_RANKING_METRICS", ("made-up@5",))
    table = build_table(MadeOf("table1", "demo", tuple(write(tmp_path, [ranking()]))))
    assert "made-up@5" not in table.frame
