"""Options that several subcommands share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from xmlc.core.files import check_replaceable
from xmlc.core.threads import set_process_threads
from xmlc.kernels.estimator import Hyperparameters

LARGEST_SEED = 2**32 - 1
SEED = click.IntRange(0, LARGEST_SEED)
FOLDER = click.Path(path_type=Path, file_okay=False)
REPLACED = " Replaces only folders that xmlc wrote."
FILE = click.Path(path_type=Path, dir_okay=False)


def use_threads(ctx: click.Context, parameter: click.Parameter, value: int) -> int:
    """Limit numba to ``value`` threads. Click calls this before numba is imported."""
    set_process_threads(value)
    return value


threads_option = click.option(
    "--threads",
    default=1,
    show_default=True,
    callback=use_threads,
    is_eager=True,
    help="Number of threads.",
)


def out_option(
    help: str,
    required: bool = True,
    multiple: bool = False,
    name: str = "--out",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an option for a folder that the command replaces, after a check that it may."""

    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        folders = value
        if not multiple:
            folders = [value]
        for folder in folders:
            if folder:
                check_replaceable(folder)
        return value

    return click.option(
        name,
        type=FOLDER,
        required=required,
        multiple=multiple,
        callback=check,
        help=help + REPLACED,
    )


def _each_once(pairs: list[tuple[str, object]]) -> Hyperparameters:
    """Return a JSON object as a dict, without repeated keys, of which Python keeps the last."""
    counts = Counter(key for key, _ in pairs)
    for key, count in counts.items():
        if count > 1:
            raise click.BadParameter(f"found {key} twice, expected each hyperparameter once")
    return dict(pairs)


def parse_parameters(text: str) -> Hyperparameters:
    """Read hyperparameters from a JSON object."""
    try:
        parameters = json.loads(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        expected = """a JSON object such as '{"n_trees": 5}'"""
        remedy = f"Check character {error.pos + 1}."
        raise click.BadParameter(f"found {text!r}, expected {expected}. {remedy}") from error
    if not isinstance(parameters, dict):
        raise click.BadParameter(f'found {text!r}, expected a JSON object such as {{"n_trees": 3}}')
    return parameters
