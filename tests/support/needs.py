"""Skip tests that need more than the extra `test`, with a hint on what to install (pytest plugin).

A test has the mark ``@pytest.mark.needs("tune")``, and a fixture calls `require`. If
XMLC_REQUIRE_ALL is set, as in CI with everything installed, every test that would be skipped fails.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from slurm_cluster import missing_programs


def has(*packages):
    return all(find_spec(package) for package in packages)


def find_mirror():
    """Return the folder of real datasets, or None."""
    folder = os.environ.get("XMLC_MIRROR")
    return Path(folder) if folder else None


# Each need has a function that checks it, and a remedy if the need is not met.
NEEDS = {
    "tune": (lambda: has("smac"), "make env EXTRAS=tune"),
    # Any folder `build` would match the package `build`, so its dependency is checked.
    "release": (lambda: has("pyproject_hooks"), "make env EXTRAS=release"),
    "baselines": (
        lambda: has("napkinxc", "omikuji", "threadpoolctl", "vowpalwabbit"),
        "make env EXTRAS=baselines",
    ),
    "serve": (lambda: has("fastapi", "uvicorn"), "make env EXTRAS=serve"),
    "lint": (lambda: has("ruff"), "make env EXTRAS=lint"),
    "mirror": (find_mirror, "XMLC_MIRROR=<folder of real datasets> make test"),
    "storage": (
        lambda: has("snakemake_storage_plugin_fs") and shutil.which("rsync"),
        "make env EXTRAS=storage, and on Debian: apt-get install rsync",
    ),
    "slurm": (
        lambda: not missing_programs() and has("snakemake_executor_plugin_slurm"),
        "on Debian: apt-get install slurm-wlm munge, and make env EXTRAS=slurm",
    ),
}


def require(name):
    """Return the result of the check of a need. If the need is not met, skip the running test."""
    find, remedy = NEEDS[name]
    if not (found := find()):
        pytest.skip(f"no {name} ({remedy})")
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            require(name)


def _fail_if_all_is_required(report):
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("XMLC_REQUIRE_ALL"):
        report.outcome = "failed"
        report.longrepr = f"XMLC_REQUIRE_ALL is set, but: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _fail_if_all_is_required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _fail_if_all_is_required((yield))
