"""The command `xmlc`, with a subcommand for each step of the workflow.

A step is the function ``command`` in a module of ``xmlc.suite.steps``, so a rule of the workflow
depends only on the files of the step that it runs. Other commands are functions ``<name>_command``
in the modules of `MODULES`. A module is imported only when its command runs, so ``xmlc --help`` is
quick.
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
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from xmlc.core.errors import INTERRUPTED, RENAMED, XmlcError, needs_extra

if not find_spec("click"):
    extras = "the extra `text` (fit, predict, evaluate) or `workflow` (all commands)"
    found_none = f"found no package click, expected {extras}"
    sys.exit(f"xmlc: error: {needs_extra(found_none, 'workflow')}")

import click

from xmlc import __version__
from xmlc.core.advice import sentence_of

# Titles and commands in the help
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
RESULTS = "suite.report.commands"
TEXTS = "cli.texts"
MODULES = {
    "new": "suite.config.study",
    "show": RESULTS,
    "results": RESULTS,
    "report": RESULTS,
    "archive": RESULTS,
    "status": RESULTS,
    "verify": RESULTS,
    **dict.fromkeys(GROUPS["Comparison"], RESULTS),
    **dict.fromkeys(GROUPS["Your own files"], TEXTS),
}
COMMANDS = list(chain.from_iterable(GROUPS.values()))


class LazyGroup(click.Group):
    """Subcommands that are imported when they are needed."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Return the subcommand of the first argument, or suggest the nearest name."""
        if args and args[0] not in COMMANDS:
            name = RENAMED.get(args[0], args[0]).lower()
            for near in get_close_matches(name, COMMANDS, n=1):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the subcommands in the order of the workflow."""
        return COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return one subcommand."""
        if name not in COMMANDS:
            return None
        path = MODULES.get(name, f"suite.steps.{name}")
        try:
            module = importlib.import_module(f"xmlc.{path}")
        except ModuleNotFoundError as error:
            extra = "workflow"
            if path == TEXTS:
                extra = "text"
            raise needs_extra(f"xmlc {name}: found no package {error.name}", extra) from error
        return getattr(module, f"{name.replace('-', '_')}_command", None) or module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands into the help by group, without imports."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__,
    message=f"xmlc, version %(version)s from {Path(__file__).parents[1]}",
)
def group() -> None:
    """Train, evaluate and compare extreme multi-label classifiers."""


def is_step(name: str) -> bool:
    """Return whether a command is a step of the workflow."""
    return name in COMMANDS and name not in MODULES


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, and after an error of xmlc or the system, print it and exit with 1."""
    step = ""
    words = arguments
    if words is None:
        words = sys.argv[1:]
    if words and is_step(words[0]):
        step = words[0]
    if arguments is None and step:
        from xmlc.cli._killed import go_on_in_child

        go_on_in_child(f"xmlc {step}")
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                with _as_planned(step, words[1:]):
                    status = group.main(args=arguments, prog_name="xmlc", standalone_mode=False)
                sys.exit(status or 0)
        finally:
            _flush_standard_output()
    except click.ClickException as error:  # wrong arguments, such as an unknown option
        _reworded(error).show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo(INTERRUPTED, err=True)
        sys.exit(130)  # as shells do after Ctrl-C
    except XmlcError as error:
        _fail(_provenance("damage").message_of(error))
    except MemoryError as error:
        from xmlc.core.memory import OF_FILES, OF_STEPS, peak_bytes, said_of_memory

        remedies = OF_FILES
        if step:
            remedies = OF_STEPS
        problem = str(error) or "an allocation failed"
        _fail(f"out of memory ({problem}): {said_of_memory(peak_bytes(), remedies)}")
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of the output, such as `head`, has ended
            sys.exit(1)
        sentence = sentence_of(error)
        if sentence is None:
            raise
        _fail(sentence)


def _as_planned(step: str, options: list[str]) -> AbstractContextManager[None]:
    """Return a context that checks the code of a step's job."""
    if not step:
        return nullcontext()
    planned_code = _provenance("planned_code")
    context: AbstractContextManager[None] = planned_code.as_planned(step, options)
    return context


def _provenance(name: str) -> Any:
    """Import a module of the suite by name, because the library must not import the suite."""
    return importlib.import_module(f"xmlc.suite.provenance.{name}")


def _reworded(error: click.ClickException) -> click.ClickException:
    """Return a usage error in plain words, or with the nearest option."""
    if isinstance(error, click.NoSuchOption):
        similar = get_close_matches(error.option_name, error.possibilities or (), n=1, cutoff=0.7)
        near = RENAMED.get(error.option_name, "".join(similar))
        message = f"No such option {error.option_name!r}."
        if near:
            message += f" Did you mean {near!r}?"
        return click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    if not isinstance(error, click.BadParameter) or not error.param:
        return error
    kind = error.param.type
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return error
    number = "number"
    if isinstance(kind, click.IntRange):
        number = "whole number"
    ends = f"from {kind.min} to {kind.max}"
    if kind.max is None:
        ends = f"of at least {kind.min}"
    expected = rf"found \1, expected a {number} {ends}."
    message = re.sub(r"^(.+?) is not (?:in the|a valid) .*", expected, error.message)
    return click.BadParameter(message, error.ctx, error.param, error.param_hint)


def _show_warning(
    message: object,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: Any,
    **__: Any,
) -> None:
    """Print a warning like an error, with its file and line unless it is a `UserWarning`."""
    place = f" ({filename}:{lineno})"
    if issubclass(category, UserWarning):
        place = ""
    click.echo(f"xmlc: warning: {message}{place}", err=True)


def _flush_standard_output() -> None:
    """Flush standard output now, to print xmlc's own message if it fails.

    At the end of the process, Python would print another message and set the exit status.
    """
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise


def _fail(message: str) -> NoReturn:
    error = sys.exception()
    while error:  # tracebacks keep deleted files open, whose disk space the log may need
        error.__traceback__ = None
        error = error.__context__
    gc.collect()
    with suppress(OSError):  # without standard error, only the exit status reports the error
        click.echo(f"xmlc: error: {message}", err=True)
    sys.exit(1)
