"""What some tests need beyond the extra `test`: without it they are skipped, and one line says how many and the remedy.

A pytest plugin. A test says ``@pytest.mark.needs("tune")``, a fixture calls `require`. Where XMLC_REQUIRE_ALL is set,
as in CI with everything installed, a test that would be skipped, for whatever reason, fails.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from slurm_cluster import missing_programs

REQUIRE_ALL = "XMLC_REQUIRE_ALL"
# Not by `build`: a folder of that name would be found.
EXTRAS = {
    "tune": ("smac",),
    "release": ("pyproject_hooks",),
    "peers": ("napkinxc", "omikuji", "threadpoolctl", "vowpalwabbit"),
}


@dataclass(frozen=True)
class Need:
    """Something that may be missing: whether it is here, what to say otherwise, and what to do."""

    found: Callable[[], object]
    missing: str
    remedy: str


def find_mirror():
    """Folder of real datasets, or None."""
    folder = os.environ.get("XMLC_MIRROR")
    return Path(folder) if folder else None


def find_slurm():
    """Whether Slurm's programs are here and Snakemake can submit to it."""
    return not missing_programs() and find_spec("snakemake_executor_plugin_slurm") is not None


def find_storage():
    """Whether Snakemake can use a folder as a storage: its plugin and the program that this one calls are here."""
    return find_spec("snakemake_storage_plugin_fs") is not None and shutil.which("rsync")


def has_extra(name):
    return all(find_spec(package) for package in EXTRAS[name])


NEEDS = {
    name: Need(partial(has_extra, name), f"the extra `{name}` is not installed", f"make env EXTRAS={name}")
    for name in EXTRAS
} | {
    "lint": Need(partial(find_spec, "ruff"), "no ruff", "make env EXTRAS=lint"),
    "mirror": Need(find_mirror, "no mirror of real datasets", "XMLC_MIRROR=<folder> make test"),
    "storage": Need(find_storage, "no storage plugin", "make env EXTRAS=storage, and on Debian: apt-get install rsync"),
    "slurm": Need(find_slurm, "no Slurm", "on Debian: apt-get install slurm-wlm munge, and make env EXTRAS=slurm"),
}


def require(name):
    """Skip the running test where what it needs is missing; return what was found."""
    need = NEEDS[name]
    found = need.found()
    if not found:
        pytest.skip(f"{need.missing} ({need.remedy})")
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            require(name)


def _fail_if_all_is_required(report):
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get(REQUIRE_ALL):
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_ALL} is set, but: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _fail_if_all_is_required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _fail_if_all_is_required((yield))


def pytest_terminal_summary(terminalreporter):
    """One line for each reason, in place of one for each file and line."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {count} test{'s'[: count > 1]}: {reason}", yellow=True)
