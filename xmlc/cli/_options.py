"""Options that several subcommands share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from xmlc.estimator import Hyperparameters
from xmlc.files import check_replaceable
from xmlc.passport import plan_for
from xmlc.runtime.threads import set_process_threads

LARGEST_SEED = 2**32 - 1
SEED = click.IntRange(0, LARGEST_SEED)


class Finite(click.FloatRange):
    """A number within a range, which NaN and infinity are not; click lets NaN pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert, or fail in the words of click."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


POSITIVE = Finite(min=0, min_open=True)
FOLDER = click.Path(path_type=Path, file_okay=False)
REPLACED = "It is replaced; one with files that xmlc did not write is refused."
FILE = click.Path(path_type=Path, dir_okay=False)


def threads_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--threads``; it is handed to numba before anything imports it."""

    def use(ctx: click.Context, parameter: click.Parameter, value: int) -> int:
        set_process_threads(value)
        return value

    return click.option(
        "--threads", default=1, show_default=True, callback=use, is_eager=True, help="Threads to compute with."
    )(plan_option(command))


def plan_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--plan``, which the workflow gives; records hold it beside what was used."""

    def keep(ctx: click.Context, parameter: click.Parameter, value: tuple[str, float] | None) -> None:
        if value is not None:
            plan_for(*value)

    return click.option(
        "--plan",
        type=(str, Finite(min=0)),
        metavar="JOB MB",
        default=None,
        callback=keep,
        expose_value=False,
        help="Name of the job and the memory that it requested, for its record.",
    )(command)


def out_option(help: str, required: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--out``, a folder that the command replaces; what it would refuse at its end it refuses at its start."""

    def check(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        if value is not None:
            check_replaceable(value)
        return value

    return click.option("--out", type=FOLDER, required=required, callback=check, help=f"{help} {REPLACED}")


data_option = click.option("--data", type=FOLDER, required=True, help="Folder written by `xmlc prepare`.")
model_option = click.option(
    "--model", "model_folder", type=FOLDER, required=True, help="Folder written by `xmlc train`."
)


def parse_parameters(text: str) -> Hyperparameters:
    """Read hyperparameters given as a JSON object."""
    try:
        parameters = json.loads(text)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"{text!r} is not JSON: {error}") from error
    if not isinstance(parameters, dict):
        raise click.BadParameter(f"expected a JSON object of hyperparameters, found {text!r}")
    return parameters


def _default_catalogue() -> Path | None:
    path = Path("config/datasets.yaml")
    return path if path.exists() else None


catalogue_option = click.option(
    "--catalogue",
    type=FILE,
    default=_default_catalogue,
    help="Catalogue of datasets; config/datasets.yaml if it exists.",
)
