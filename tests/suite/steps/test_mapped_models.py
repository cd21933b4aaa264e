"""Test that a step predicts with a model that is larger than the memory that the step may use.

Models are mapped, so Linux takes back the pages of a model that the step does not read. This module
is collected only if the memory of a program can be limited.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from memory_cgroup import forget, run_limited
from small_data import train

from xmlc.core.files import folder_bytes
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.results.records.ranking import RankedRecord
from xmlc.suite.steps.prepare import prepare
from xmlc.suite.steps.synth import make_dataset

pytestmark = pytest.mark.slow
XMLC = str(Path(sys.executable).with_name("xmlc"))
SIZES = {"n_train": 700, "n_test": 100, "n_features": 100_000, "n_labels": 30_000}
LIMIT = 160_000_000  # Bytes; Python, NumPy and numba take about 90 MB.


def test_ranking_with_a_model_larger_than_the_memory_has_the_same_labels(tmp_path):
    make_dataset(
        "large",
        "labels",
        SIZES | {"nonzeros": 600, "labels_per_instance": 20, "posteriors": False},
        tmp_path / "source",
        2,
    )
    prepare(Dataset("large"), tmp_path / "source", tmp_path / "data")
    parameters = {"tree": "random", "arity": 16, "epochs": 1, "weight_threshold": None}
    trained = train(tmp_path, tmp_path / "data", "plt", **parameters)
    assert folder_bytes(tmp_path / "model") > 2 * LIMIT
    free = tmp_path / "free"
    limited = tmp_path / "limited"
    assert run("rank", *trained, "--out", free) == 0
    forget(tmp_path / "model")
    done, n_reached = run_limited([XMLC, "rank", *map(str, trained), "--out", str(limited)], LIMIT)
    assert done.returncode == 0, done.stderr
    assert n_reached > 0
    expected, found = (np.load(folder / RankedRecord.LABELS) for folder in (free, limited))
    assert found.shape == (SIZES["n_test"], RankedRecord.DEPTH)
    np.testing.assert_array_equal(found, expected)
