"""The options that several commands of `xmlc bench` have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from xmlc.cli._options import FILE

Option = Callable[[Any], Any]  # a decorator of click's


def count_option(name: str, default: int | None, text: str, least: int = 1, most: int | None = None) -> Option:
    """Return an option that takes a whole number."""
    return click.option(name, default=default, show_default=True, type=click.IntRange(least, most), help=text)


def flag_option(name: str, text: str) -> Option:
    """Return an option that is on unless it is negated."""
    return click.option(f"--{name}/--no-{name}", default=True, show_default=True, help=text)


def threads_option(default: int = 2) -> Option:
    """Return the option of threads that are compared with one."""
    return count_option("--threads", default, "Compared with one thread.", least=min(default, 2))


def rounds_option(default: int = 3) -> Option:
    """Return the option of rounds."""
    return count_option("--rounds", default, "Interleaved measurements of each task; the minimum is reported.")


def seeds_option(default: int, text: str) -> Option:
    """Return the option of seeds."""
    return count_option("--seeds", default, text)


peers_option = flag_option("peers", "Whether to run the baselines too (extra `peers`).")
out_option = click.option("--out", type=FILE, help="File for all rows: CSV if it ends in .csv, else JSON.")
budgets_option = click.option("--budgets", is_flag=True, help="Check the budgets; fail if a figure is over its budget.")
