"""Pieces: data, metrics and elementary functions."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from xmlc.csr import unit_rows
from xmlc.data import load
from xmlc.data.synthetic.few_shot import ObjectViews, ShortTexts
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.data.writer import save_repository
from xmlc.estimates import top_k_of
from xmlc.kernels import elementwise
from xmlc.kernels.float64 import cos, sin
from xmlc.metrics import classification_metrics, maximum_precision_at_k, precision_and_ndcg, propensities, psp_at_k
from xmlc.samebits.pieces import Data, Parts, Run
from xmlc.trees.kmeans import kmeans_tree, label_representations
from xmlc.tuning.ranges import Range

SEED = 7


def elementary(data: Data) -> Parts:
    """Apply the functions that take the place of NumPy's."""
    x = np.linspace(-30.0, 30.0, 5003)
    positive = np.abs(x) + 1e-9
    return {
        "exp": elementwise.exp(x),
        "log": elementwise.log(positive),
        "log1p": elementwise.log1p(positive),
        "log2": elementwise.log2(positive),
        "sigmoid": elementwise.sigmoid(x),
        "power": [elementwise.power(positive, y) for y in (-1.3, 0.55, 1.5, 2.0)],
        "sin": np.array([sin(v) for v in x.tolist()]),
        "cos": np.array([cos(v) for v in x.tolist()]),
    }


def synthetic(data: Data) -> Parts:
    """Draw data with several labels."""
    return {"drawn": SyntheticModel(500, 80, 2.5, 30, seed=SEED).draw(0, 300, 1)}


def few_shot(data: Data) -> Parts:
    """Draw data with one label and few examples each."""
    views, texts = ObjectViews(64, 30, seed=SEED).draw(0, 400, 1), ShortTexts(600, 50, seed=SEED).draw(0, 300, 1)
    return {"views": views[:2], "texts": texts[:2]}


def metrics(data: Data) -> Parts:
    """Score a prediction and a ranking by everything that a record holds."""
    labels, _ = top_k_of(data.P_test, 5)
    scores = classification_metrics(data.Y_test, data.P_test > 0.2)
    ranking = precision_and_ndcg(data.Y_test, labels)
    propensity = propensities(data.Y, 0.55, 1.5)
    return {
        "classification": {name: np.float64(value) for name, value in scores.items()},
        "ranking": {name: np.float64(value) for name, value in ranking.items()},
        "propensities": propensity,
        "psp": [np.float64(psp_at_k(data.Y_test, labels, propensity, k)) for k in (1, 3, 5)],
        "maximum": [np.float64(maximum_precision_at_k(data.Y_test, k)) for k in (1, 3, 5)],
    }


def trees(data: Data) -> Parts:
    """Represent labels and part them by 2-means."""
    representations = label_representations(data.X, data.Y, 1)
    tree = kmeans_tree(representations, 4, 3, SEED, 1)
    return {"unit_rows": unit_rows(data.X), "representations": representations, "tree": [tree.children, tree.label]}


def text(data: Data) -> Parts:
    """Write text and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.txt"
        save_repository(file, data.X, data.Y)
        return {"file": np.frombuffer(file.read_bytes(), dtype=np.uint8), "read": load(file)}


def ranges(data: Data) -> Parts:
    """Take hyperparameters from ranges."""
    logarithmic, plain = Range(low=1e-6, high=1.0, log=True), Range(low=0.1, high=3.0)
    at = (np.arange(200) + 0.5) / 200
    return {"logarithmic": [logarithmic.at(u) for u in at.tolist()], "plain": [plain.at(u) for u in at.tolist()]}


PIECES: dict[str, Run] = {
    "elementary functions": elementary,
    "synthetic data": synthetic,
    "few-shot data": few_shot,
    "metrics": metrics,
    "k-means tree": trees,
    "data as text": text,
    "ranges of hyperparameters": ranges,
}
