"""What several test rooms share: small random multi-label data, and the mirror of real datasets."""
# ruff: noqa: E402

import sys
from collections import Counter
from pathlib import Path

from xmlc.runtime.kernel_cache import use_kernel_cache

use_kernel_cache()  # before anything imports numba, which reads the folder's name once

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse

from xmlc.data.catalogue import Dataset
from xmlc.data.prepare import prepare
from xmlc.data.writer import save_repository
from xmlc.files import write_json

# The first example of a kernel's test contains its compilation.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

# Twins and cases that several test files share lie beside them.
sys.path += [str(Path(__file__).parent / room) for room in ("data", "models", "support", "thresholds")]
pytest_plugins = ["needs"]


def random_multilabel(n, d, m, seed=0, density=0.3, labels=2.0):
    """Sparse random instances whose labels depend on them, some without labels, some without features."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.normal(size=(d, m)) + rng.normal(scale=0.3, size=(n, m))
    Y = sparse.csr_array(scores > np.quantile(scores, 1 - min(labels / m, 0.6)))
    return X, Y


def pytest_collection_modifyitems(items):
    """Order the files so that several processes share the work well.

    Those that run the workflow take longest and come first, lest one core wait for them at the end. Then comes one file
    of each room in turn: neighbours in a room use the same kernels, which two processes would compile at the same time.
    """
    turns, counts = {}, Counter()
    for file in dict.fromkeys(item.path for item in items):
        turns[file] = counts[file.parent]
        counts[file.parent] += 1
    items.sort(key=lambda item: (item.path.parent.name != "workflow", turns[item.path]))


@pytest.fixture
def multilabel():
    """Give the generator of small random multi-label data."""
    return random_multilabel


def prepare_tiny(folder, name="tiny"):
    """Prepare a tiny dataset in ``folder`` as `xmlc prepare` does; return the prepared folder."""
    source = folder / "resources"
    for part, seed in (("train", 1), ("test", 2)):
        save_repository(source / f"{part}.txt", *random_multilabel(120, 20, 8, seed=seed))
    files = {"format": "repository", "zero_based": True, "train": ["train.txt"], "test": ["test.txt"]}
    write_json(source / "source.json", files)
    prepare(Dataset(name), source, folder / "data", folder / "statistics.json")
    return folder / "data"


@pytest.fixture(scope="session")
def mirror():
    """Folder of real datasets."""
    from needs import require  # a plugin is imported by pytest first, so that its assertions are rewritten

    return require("mirror")
