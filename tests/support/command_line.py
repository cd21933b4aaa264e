"""The command line, run in the process of the tests."""

import pytest

from xmlc.cli import main


def run(*arguments):
    """Call `xmlc` and return its exit status."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code
