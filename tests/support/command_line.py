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
