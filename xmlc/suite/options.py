"""Command-line options that several commands of the suite share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from xmlc.cli.options import FILE, FOLDER, parse_parameters
from xmlc.core.extensions import import_file
from xmlc.suite.config.folders import config_files, config_folder

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def file_option(name: str, help: str, **further: Any) -> Decorator:
    """Return an option for the path of a file, with further arguments for `click.option`."""
    return click.option(name, type=FILE, help=help, **further)


data_option = click.option(
    "--data", type=FOLDER, required=True, help="Folder written by `xmlc prepare`."
)
model_option = click.option(
    "--model", "model_folder", type=FOLDER, required=True, help="Folder written by `xmlc train`."
)
training_option = file_option("--training", "Record written by `xmlc train`.", required=True)
record_option = file_option("--out", "JSON record to write.", required=True)
estimator_option = click.option(
    "--estimator", required=True, help="Name of the estimator, or path/to/file.py:ClassName."
)
name_option = click.option("--name", required=True, help="Name of the model in tables and figures.")


def json_option(name: str, help: str, default: str | None = "{}") -> Decorator:
    """Return an option whose value is a JSON object."""
    return click.option(
        name,
        default=default,
        callback=lambda ctx, _, text: text and parse_parameters(text),
        help=help,
    )


parameters_option = json_option("--parameters", "Hyperparameters as a JSON object.")


def _extensions(ctx: click.Context, parameter: click.Parameter, files: tuple[Path, ...]) -> None:
    for file in files:
        import_file(file)


extension_option = file_option(
    "--extension",
    "Python file that registers your threshold or inference methods; repeatable.",
    multiple=True,
    callback=_extensions,
    expose_value=False,
)


def each_in_turn(**given: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the first values of all options, then the second ones, and so on."""
    if len({len(values) for values in given.values()}) > 1:
        said = ", ".join(f"--{name} {len(values)} times" for name, values in given.items())
        raise click.UsageError(f"found {said}, expected each option equally often")
    return zip(*given.values(), strict=True)


catalogue_option = file_option(
    "--catalogue",
    "Catalogue of datasets; repeatable. The last file with an entry for a dataset is used.  "
    "[default: datasets.yaml of the clone or study]",
    multiple=True,
    default=lambda: [
        file for file in config_files("datasets.yaml", config_folder()) if file.is_file()
    ],
)

entry_option = click.option(
    "--entry", help="Fail if the entry has other keys about the data than these, as JSON."
)


def records_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument RECORDS, files or folders, and ``--method`` to select some of a folder."""
    help = "Read only the records of this method from folders in RECORDS; repeatable."
    command = click.option("--method", "of_methods", multiple=True, help=help)(command)
    return click.argument("records", type=click.Path(path_type=Path), nargs=-1, required=True)(
        command
    )


def prefix_option(suffixes: str) -> Decorator:
    """Return the option ``--out`` for files that differ only in their suffixes."""
    help = f"Path of the {suffixes} files to write, without suffix."
    return click.option("--out", type=click.Path(path_type=Path), required=True, help=help)


titles_option = click.option(
    "--title",
    "titles",
    multiple=True,
    callback=lambda ctx, _, values: dict(value.partition("=")[::2] for value in values),
    help="Title of a model in tables and figures, such as mine='My model'; repeatable.",
)
