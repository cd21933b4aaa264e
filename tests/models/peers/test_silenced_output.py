"""Output is held back at the file descriptors, and shown where something fails."""

import os

import pytest

from xmlc.models.peers.silenced_output import SHOWN_BYTES, silenced_output


@pytest.mark.parametrize("descriptor", [1, 2])
def test_what_is_written_inside_is_not_seen_and_what_comes_behind_is(capfd, descriptor):
    with silenced_output():
        os.write(descriptor, b"progress")
    os.write(descriptor, b"behind")
    assert "".join(capfd.readouterr()) == "behind"


def fail_after_writing():
    with silenced_output():
        os.write(2, b"x" * 10 * SHOWN_BYTES)
        os.write(1, b"the reason")
        raise ValueError("broken")


def test_a_failure_shows_the_last_that_was_written(capfd):
    with pytest.raises(ValueError, match="broken"):
        fail_after_writing()
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.endswith("xthe reason")
    assert len(told.err) == SHOWN_BYTES
