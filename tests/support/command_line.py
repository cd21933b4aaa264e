"""Run the command line in the process of the tests."""

from contextlib import contextmanager

import numba
import pytest
from click.testing import CliRunner

from xmlc.cli import main


@contextmanager
def own_threads():
    """Restore numba's number of threads after a block."""
    before = numba.get_num_threads()
    try:
        yield
    finally:
        numba.set_num_threads(before)


def run(*arguments):
    """Run `xmlc` and return its exit status."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def rank_and_score(data, model, training, out, *further):
    """Run `xmlc rank` and `xmlc score`. The ranking is in a folder next to the record ``out``."""
    ranking = out.with_suffix("")
    about = ("--data", data, "--model", model, "--training", training)
    assert run("rank", *about, "--out", ranking) == 0
    assert run("score", "--data", data, "--ranking", ranking, "--out", out, *further) == 0


def call(command, *arguments):
    """Run one command of `xmlc` and return its output.

    Exceptions reach the caller, and numba keeps its number of threads.
    """
    with own_threads():
        result = CliRunner().invoke(command, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output
