"""Define the order of all tests and the fixtures that they share.

Other helpers are in tests/support.
"""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from memory_cgroup import can_limit
from small_data import random_multilabel

# The first example of a kernel's test also compiles the kernel. A busy machine draws examples
# slowly.
settings.register_profile("kernels", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kernels")

pytest_plugins = ["needs"]
TESTS = Path(__file__).parent
# No package can provide a control group with a limit on memory, so CI cannot require the tests that
# need one.
collect_ignore = [] if can_limit() else ["suite/steps/test_mapped_models.py"]
# test folders that run kernels
KERNELS = {"kernels", "models", "thresholds", "inference", "metrics", "data"}


@pytest.hookimpl(tryfirst=True)  # pytest then selects tests by these marks
def pytest_collection_modifyitems(items):
    """Order the files so that several processes share the work well.

    Files that run the workflow take longest. These files come first, so that no core waits for them
    at the end. While one of them waits for Slurm, another one computes. Then comes one file of each
    folder in turn. Files of one folder use the same kernels, and two processes would compile these
    kernels at the same time.
    """
    long = ("cluster", "hostile", "workflow", "project")
    turns = {}
    counts = Counter()
    for file in dict.fromkeys(item.path for item in items):
        turns[file] = counts[file.parent]
        counts[file.parent] += 1
    items.sort(key=lambda item: (item.path.parent.name not in long, turns[item.path]))
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in KERNELS:
            item.add_marker("kernels")
        if "mirror" in item.fixturenames:
            item.add_marker(pytest.mark.needs("mirror"))


@pytest.fixture
def multilabel():
    """Return the function that generates small random multi-label data."""
    return random_multilabel


@pytest.fixture(scope="session")
def mirror():
    """Return the folder of real datasets, or skip the test if there is none."""
    from needs import require  # pytest must import a plugin first, to rewrite its assertions

    return require("mirror")
