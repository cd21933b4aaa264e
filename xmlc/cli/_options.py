"""Options that several subcommands share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from xmlc.core.configuration import config_files, config_folder
from xmlc.core.extensions import import_file
from xmlc.core.files import check_replaceable
from xmlc.core.threads import set_process_threads
from xmlc.kernels.estimator import Hyperparameters

LARGEST_SEED = 2**32 - 1
SEED = click.IntRange(0, LARGEST_SEED)
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
    )(command)


def out_option(
    help: str, required: bool = True, multiple: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--out``, a folder that the command replaces; a refusal of its end comes at its start."""

    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        for folder in value if multiple else [value] if value else []:
            check_replaceable(folder)
        return value

    return click.option(
        "--out", type=FOLDER, required=required, multiple=multiple, callback=check, help=f"{help} {REPLACED}"
    )


data_option = click.option("--data", type=FOLDER, required=True, help="Folder written by `xmlc prepare`.")
model_option = click.option(
    "--model", "model_folder", type=FOLDER, required=True, help="Folder written by `xmlc train`."
)

training_option = click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")


def _extensions(ctx: click.Context, parameter: click.Parameter, files: tuple[Path, ...]) -> None:
    for file in files:
        import_file(file)


extension_option = click.option(
    "--extension",
    type=FILE,
    multiple=True,
    callback=_extensions,
    expose_value=False,
    help="Python file that registers a method of your own.",
)


def in_turn(**given: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the first values of repeated options, then the second ones, and so on.

    Raises
    ------
    click.UsageError
        They are not given equally often.
    """
    counts = {len(values) for values in given.values()}
    if len(counts) > 1:
        said = ", ".join(f"--{name} {len(values)} times" for name, values in given.items())
        raise click.UsageError(f"found {said}; expected each as often as the others")
    return zip(*given.values(), strict=True)


def _each_once(pairs: list[tuple[str, object]]) -> Hyperparameters:
    """Return a JSON object, and refuse equal keys, of which Python's parser keeps only the last."""
    if twice := [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
        raise click.BadParameter(f"found {twice[0]} twice, expected each hyperparameter once")
    return dict(pairs)


def parse_parameters(text: str) -> Hyperparameters:
    """Read hyperparameters given as a JSON object."""
    try:
        parameters = json.loads(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"{text!r} is not JSON: {error}") from error
    if not isinstance(parameters, dict):
        raise click.BadParameter(f"expected a JSON object of hyperparameters, found {text!r}")
    return parameters


catalogue_option = click.option(
    "--catalogue",
    type=FILE,
    multiple=True,
    default=lambda: [file for file in config_files("datasets.yaml", config_folder()) if file.is_file()],
    help="Catalogue of datasets, the later over the earlier; by default that of the clone or study.",
)


def records_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add RECORDS: files, or folders of the records of methods, of which ``--method`` names those that are read."""
    command = click.option(
        "--method", "of_methods", multiple=True, help="Of a folder in RECORDS, this method; repeatable, in order."
    )(command)
    return click.argument("records", type=click.Path(path_type=Path), nargs=-1, required=True)(command)


def split_names(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split the values of a repeatable option at their commas."""
    return tuple(name.strip() for value in values for name in value.split(","))


def _titles(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    return {name: title for name, _, title in (value.partition("=") for value in values)}


titles_option = click.option(
    "--title", "titles", multiple=True, callback=_titles, help="Name of a model in print, as in mine='My model'."
)
