"""What some tests need beyond the extra `test`; without it they are skipped, and say what to do.

A pytest plugin. A test says ``@pytest.mark.needs("tune")``, a fixture calls `require`. Where XMLC_REQUIRE_ALL is set,
as in CI with everything installed, a test that would be skipped, for whatever reason, fails.
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
    """Folder of real datasets, or None."""
    folder = os.environ.get("XMLC_MIRROR")
    return Path(folder) if folder else None


# How each is found, and what to do where it is missing.
NEEDS = {
    "tune": (lambda: has("smac"), "make env EXTRAS=tune"),
    "release": (lambda: has("pyproject_hooks"), "make env EXTRAS=release"),  # a folder `build` would be found
    "peers": (lambda: has("napkinxc", "omikuji", "threadpoolctl", "vowpalwabbit"), "make env EXTRAS=peers"),
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
    """Skip the running test where what it needs is missing; return what was found."""
    find, remedy = NEEDS[name]
    found = find()
    if not found:
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
