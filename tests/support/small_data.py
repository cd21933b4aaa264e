"""Make small datasets that several packages' tests share."""

import json
import shutil

import numpy as np
from command_line import run
from scipy import sparse

from xmlc.core.files import write_json
from xmlc.data.writer import save_repository
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.steps.prepare import prepare


def random_multilabel(n, d, m, seed=0, density=0.3, labels=2.0):
    """Return sparse random instances and labels that depend on them.

    Some instances have no labels, and some have no features.
    """
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.normal(size=(d, m)) + rng.normal(scale=0.3, size=(n, m))
    return X, sparse.csr_array(scores > np.quantile(scores, 1 - min(labels / m, 0.6)))


def prepare_tiny(folder, name="tiny", filter=None):
    """Prepare a tiny dataset in ``folder`` as `xmlc prepare` does, and return the prepared
    folder.
    """
    source = folder / "resources"
    for part, seed in (("train", 1), ("test", 2)):
        save_repository(source / f"{part}.txt", *random_multilabel(120, 20, 8, seed=seed))
    files = {
        "format": "repository",
        "zero_based": True,
        "train": ["train.txt"],
        "test": ["test.txt"],
    }
    if filter:
        shutil.copy(filter, source / "filter.txt")
        files["filter"] = "filter.txt"
    write_json(source / "source.json", files)
    prepare(Dataset(name), source, folder / "data")
    return folder / "data"


def train(folder, data, estimator, part="train", name="x", seed=0, **parameters):
    """Train a model by `xmlc train`, and return the options of a step that uses it."""
    given = ("--estimator", estimator, "--part", part, "--name", name, "--seed", seed)
    model = folder / "model"
    record = folder / "train.json"
    out = ("--parameters", json.dumps(parameters), "--out", model, "--record", record)
    assert run("train", "--data", data, *given, *out) == 0
    return "--data", data, "--model", model, "--training", record


def random_data(n, d, m, seed):
    """Return sparse instances and label sets.

    Some instances have no features, and some labels no instances.
    """
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.3, rng=rng, dtype=np.float32, format="csr")
    return X, sparse.csr_array(rng.random((n, m)) < 0.15)


def equal_bits(one, other):
    """Return whether two CSR matrices have bit-identical arrays."""
    return all(
        getattr(one, part).tobytes() == getattr(other, part).tobytes()
        for part in ("indptr", "indices", "data")
    )


def marked_instances(n, d, n_labels, loud=2.0, wrong=0.0, seed=0):
    """Return instances with a feature of value ``loud`` for their label, and random features.

    A share ``wrong`` has random labels.
    """
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.2).astype(np.float32)
    of = rng.integers(0, n_labels, n)
    X[:, :n_labels] = loud * np.eye(n_labels)[of]
    given = np.where(rng.random(n) < wrong, rng.integers(0, n_labels, n), of)
    return sparse.csr_array(X), sparse.csr_array(np.eye(n_labels, dtype=bool)[given])
