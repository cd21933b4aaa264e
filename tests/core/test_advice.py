"""Test that messages of operating system errors name the file, the failure and the fix."""

import errno
import os
import shutil

import pytest
from facts import raises_with

from xmlc.core.advice import ADVICE, sentence_of
from xmlc.core.errors import OF_THE_MACHINE, let_through


@pytest.mark.parametrize("number", ADVICE)
def test_system_error_names_file_reason_and_fix(number):
    error = OSError(number, os.strerror(number), "results/x.npy")
    sentence = sentence_of(error)
    assert sentence.startswith(f"results/x.npy: {os.strerror(number)}. {ADVICE[number]}")
    assert "\n" not in sentence
    if number in OF_THE_MACHINE:
        with raises_with(OSError, "results/x.npy"):
            let_through(error)


def test_each_machine_error_has_advice():
    assert set(ADVICE) > OF_THE_MACHINE


def test_missing_file_is_named_without_machine_advice():
    error = FileNotFoundError(errno.ENOENT, "absent", b"a.txt")
    assert sentence_of(error) == "a.txt: absent"
    let_through(error)
    let_through(ValueError("no space left on device"))


def test_copy_error_names_affected_file_and_folder_error_every_file():
    assert sentence_of(OSError(errno.ENOSPC, "Full", "from", None, "to")).startswith("to: Full. ")
    assert sentence_of(OSError(errno.EACCES, "No", "from", None, "to")).startswith("from: No. ")
    assert sentence_of(shutil.Error([("a", "b", "full"), ("c", "d", "no")])) == "b: full; d: no"
