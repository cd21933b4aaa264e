"""The command line, run in the process of the tests."""

import pytest
from click.testing import CliRunner

from xmlc.cli import main
from xmlc.runtime.threads import numba_threads


def run(*arguments):
    """Call `xmlc` and return its exit status."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def call(command, *arguments):
    """Call one command of `xmlc` and let its exceptions through; numba has its threads back afterwards."""
    with numba_threads(None):
        result = CliRunner().invoke(command, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output
