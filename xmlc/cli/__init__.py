"""Run the command `xmlc`, which has one subcommand for each step of the workflow.

Each step is the function ``command`` in a module of ``xmlc.suite.steps``. Therefore a rule of the workflow depends only
on the files of the step that it runs. Commands that are not steps are functions ``<name>_command`` in the modules that
`MODULES` lists. A module is imported only when its command runs, so that ``xmlc --help`` is quick.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import re
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext, suppress
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from xmlc.core.errors import INTERRUPTED, RENAMED, XmlcError, needs_extra

if not find_spec("click"):
    which = "found no package click, expected the extra `text` (fit, predict, evaluate) or `workflow` (all commands)"
    sys.exit(f"xmlc: error: {needs_extra(which, 'workflow')}")

import click

from xmlc import __version__
from xmlc.core.advice import sentence_of

# The help lists commands under titles. GROUPS maps each title to its commands, and each command to its description.
GROUPS = {
    "Your own study": {"new": "Create a study with an example suite, model and method."},
    "Your own files": {
        "fit": "Train a classifier on labelled texts or features.",
        "predict": "Predict label rankings and label sets.",
        "evaluate": "Score predictions against the true labels.",
    },
    "Data": {
        "download": "Download a dataset from its source or a mirror.",
        "synth": "Generate a synthetic dataset with known posteriors.",
        "prepare": "Check and split a dataset, and save it as arrays.",
    },
    "Steps": {
        "train": "Train one model on one dataset.",
        "tune": "Search hyperparameters on the 80/20 training split.",
        "rank": "Rank the five best labels of each test instance.",
        "score": "Score a ranking: P@k, nDCG@k, PSP@k.",
        "estimate": "Save probability estimates of validation and test set.",
        "thresholds": "Tune and evaluate all threshold methods of one model.",
        "infer": "Infer label sets of test instances by several methods.",
        "forest": "Score a forest by its number of trees.",
        "sweep": "Train and score with several values of a hyperparameter.",
        "progressive": "Evaluate online: predict each instance, then learn it.",
        "simulate": "Score and time inference on simulated distributions.",
    },
    "Tables": {
        "table": "Build a table of a paper from records.",
        "figure": "Draw a figure of a paper from records.",
        "show": "Print finished tables and their paths.",
        "results": "Export all numbers of the finished tables in long form.",
        "report": "Write an HTML report of the finished tables and figures.",
        "archive": "Pack the records and figures of finished tables.",
        "status": "Count finished, missing and failed files.",
    },
    "Comparison": {
        "compare": "Compare two tables and assess the differences.",
        "fingerprint": "Print a fingerprint of all numbers, to compare two runs.",
        "accept": "Save the current tables as the reference tables.",
        "seed-variation": "Save the results of several seeds, to compute intervals.",
    },
    "Tools": {
        "verify": "List results and downloads that changed on disk.",
        "labels": "Choose label sets from the estimates of any model.",
        "compile": "Compile the kernels of a suite before its first run.",
    },
}
RESULTS, TEXTS = "suite.report.commands", "cli.texts"
MODULES = dict.fromkeys(("show", "results", "report", "archive", "status", "verify"), RESULTS)
MODULES |= dict.fromkeys(GROUPS["Comparison"], RESULTS) | dict.fromkeys(GROUPS["Your own files"], TEXTS)
MODULES["new"] = "suite.config.study"
COMMANDS = [name for commands in GROUPS.values() for name in commands]


class LazyGroup(click.Group):
    """Import click's subcommands when they are needed, and print an `XmlcError` as one message."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Return the subcommand that the first argument names, or suggest the nearest name."""
        name = RENAMED.get(args[0], args[0]).lower() if args else ""
        if args and args[0] not in COMMANDS and (near := get_close_matches(name, COMMANDS, n=1)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands in the order of the workflow."""
        return COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return one subcommand."""
        if name not in COMMANDS:
            return None
        try:
            module = importlib.import_module(f"xmlc.{MODULES.get(name, f'suite.steps.{name}')}")
        except ModuleNotFoundError as error:
            extra = "text" if MODULES.get(name) == TEXTS else "workflow"
            raise needs_extra(f"xmlc {name}: found no package {error.name}", extra) from error
        return getattr(module, f"{name.replace('-', '_')}_command", None) or module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands into the help by group, without importing the subcommands' modules."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message=f"xmlc, version %(version)s from {Path(__file__).parents[1]}")
def group() -> None:
    """Train, evaluate and compare extreme multi-label classifiers."""


def is_step(name: str) -> bool:
    """Return whether a command is a step of the workflow."""
    return name in COMMANDS and name not in MODULES


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Print an `XmlcError` or a system error as a message, and exit with status 1."""
    if arguments is None and sys.argv[1:] and is_step(sys.argv[1]):
        from xmlc.cli._killed import go_on_in_child

        go_on_in_child(f"xmlc {sys.argv[1]}")
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                with _as_planned(arguments):
                    status = group.main(args=arguments, prog_name="xmlc", standalone_mode=False)
                sys.exit(status or 0)
        finally:
            _flush_standard_output()
    except click.ClickException as error:  # The user passed wrong arguments, such as an unknown option.
        _reworded(error).show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo(INTERRUPTED, err=True)
        sys.exit(130)  # After Ctrl-C, the exit status is 130, as in shells.
    except XmlcError as error:
        _fail(_provenance("damage").message_of(error))
    except MemoryError as error:
        from xmlc.core.machine import peak_bytes
        from xmlc.core.memory import OF_FILES, OF_STEPS, said_of_memory

        given = sys.argv[1:] if arguments is None else arguments
        remedies = OF_STEPS if given and is_step(given[0]) else OF_FILES
        _fail(f"out of memory ({str(error) or 'an allocation failed'}): {said_of_memory(peak_bytes(), remedies)}")
    except OSError as error:
        if error.errno == errno.EPIPE:  # The program that reads the output, such as `head`, has ended.
            sys.exit(1)
        if (sentence := sentence_of(error)) is None:
            raise
        _fail(sentence)


def _as_planned(arguments: list[str] | None) -> AbstractContextManager[None]:
    """Return a context that checks the code of a job of the workflow, and does nothing for other commands."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or not is_step(words[0]):
        return nullcontext()
    planned_code = _provenance("planned_code")
    context: AbstractContextManager[None] = planned_code.as_planned(words[0], words[1:])
    return context


def _provenance(name: str) -> Any:
    """Import a module of the suite, by its name, because the library has no import of the suite."""
    return importlib.import_module(f"xmlc.suite.provenance.{name}")


def _reworded(error: click.ClickException) -> click.ClickException:
    """Return a usage error with a clearer message, which has ranges in words and suggests the nearest known option."""
    if isinstance(error, click.NoSuchOption):
        similar = get_close_matches(error.option_name, error.possibilities or (), n=1, cutoff=0.7)
        near = RENAMED.get(error.option_name, "".join(similar))
        said = f"No such option {error.option_name!r}." + (f" Did you mean {near!r}?" if near else "")
        return click.NoSuchOption(error.option_name, said, ctx=error.ctx)
    kind = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    if isinstance(error, click.BadParameter) and isinstance(kind, click.IntRange | click.FloatRange):
        ends = f"of at least {kind.min}" if kind.max is None else f"from {kind.min} to {kind.max}"
        number = "whole number" if isinstance(kind, click.IntRange) else "number"
        said = re.sub(r"^(.+?) is not (?:in the|a valid) .*", rf"found \1, expected a {number} {ends}.", error.message)
        return click.BadParameter(said, error.ctx, error.param, error.param_hint)
    return error


def _show_warning(message: object, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """Print a warning in the form of an error message.

    Add the file and line that caused the warning, unless it is a `UserWarning`.
    """
    place = "" if issubclass(category, UserWarning) else f" ({filename}:{lineno})"
    click.echo(f"xmlc: warning: {message}{place}", err=True)


def _flush_standard_output() -> None:
    """Flush standard output now.

    If a flush fails at the end of the process, Python prints its own message and sets the exit status. If xmlc flushes
    earlier, xmlc can print its own error message.
    """
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise


def _fail(message: str) -> NoReturn:
    error = sys.exception()
    while error:  # Tracebacks keep deleted files open, whose disk space the log may need.
        error.__traceback__, error = None, error.__context__
    gc.collect()
    with suppress(OSError):  # If standard error cannot be written, only the exit status reports the error.
        click.echo(f"xmlc: error: {message}", err=True)
    sys.exit(1)
