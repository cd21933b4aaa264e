"""What all tests share: their order, small random data, and the mirror of real datasets; tests/support has the rest."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from small_data import random_multilabel

# The first example of a kernel's test contains its compilation, and a busy machine draws examples slowly.
settings.register_profile("kernels", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kernels")

pytest_plugins = ["needs"]
TESTS = Path(__file__).parent
KERNELS = {"kernels", "models", "thresholds", "inference", "metrics", "data"}  # rooms that have some


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items):
    """Order the files so that several processes share the work well.

    Those that run the workflow take longest and come first, lest one core wait for them at the end; while one waits for
    Slurm, another works. Then comes one file of each room in turn: neighbours in a room use the same kernels, which two
    processes would compile at the same time.
    """
    long = ("cluster", "hostile", "workflow", "project")
    turns, counts = {}, Counter()
    for file in dict.fromkeys(item.path for item in items):
        turns[file] = counts[file.parent]
        counts[file.parent] += 1
    items.sort(key=lambda item: (item.path.parent.name not in long, turns[item.path]))
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in KERNELS:
            item.add_marker("kernels")


@pytest.fixture
def multilabel():
    """Give the generator of small random multi-label data."""
    return random_multilabel


@pytest.fixture(scope="session")
def mirror():
    """Folder of real datasets."""
    from needs import require  # a plugin is imported by pytest first, so that its assertions are rewritten

    return require("mirror")
