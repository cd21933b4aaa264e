"""Test tables of a small run with models of other libraries, of a user's file, and of files with
scores.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from small_run import SET, SmallRun

from xmlc.core.files import read_json

pytestmark = pytest.mark.slow

MINE = """
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier


class Halved(LogisticRegression):
    def predict_proba(self, X):
        return super().predict_proba(X) / 2


def halved(C=1.0):
    return OneVsRestClassifier(Halved(C=C))
"""
MODELS = {
    "knn": {
        "estimator": "sklearn.neighbors:KNeighborsClassifier",
        "hyperparameters": {"n_neighbors": 7},
    },
    "mine": {"estimator": "of_mine.py:halved", "hyperparameters": {"C": 2.0}},
    "scores": {"estimator": "estimates", "hyperparameters": {"test": "scores/{dataset}/test.npz"}},
}


def test_each_estimator_has_rows_and_edit_reruns_only_affected_jobs(tmp_path):
    project = SmallRun(tmp_path)
    (tmp_path / "of_mine.py").write_text(MINE)
    (tmp_path / f"scores/{SET}").mkdir(parents=True)
    scores = np.random.default_rng(0).random((100, 12)).astype(np.float32)
    sparse.save_npz(tmp_path / f"scores/{SET}/test.npz", sparse.csr_array(scores))
    project.edit_yaml("config/demo.yaml", lambda content: content["models"].update(MODELS))
    project.edit_yaml(
        "config/demo.yaml", lambda content: content.update(tables=["table1", "table2"])
    )
    project.finish()
    tables = [
        pd.read_csv(tmp_path / f"results/tables/demo/{name}.csv") for name in ("table1", "table2")
    ]
    assert [list(table["model"]) for table in tables] == [
        ["knn", "mine", "plt", "scores"],
        ["knn", "mine", "plt"],
    ]
    assert project.planned(*project.words) == {}
    (tmp_path / "of_mine.py").write_text(MINE.replace("/ 2", "/ 3"))
    assert project.planned(*project.words)["train"] == 2
    assert read_json(tmp_path / f"results/{SET}/mine/seed0/full/train.json")["hyperparameters"] == {
        "C": 2.0
    }
