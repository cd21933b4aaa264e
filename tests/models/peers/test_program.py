"""Models whose files are a program's: they are a part of the folder, which appears and is replaced as a whole."""

import os

import numpy as np
import pytest

from xmlc.core.checksums import NAME, listed_in
from xmlc.models.peers.program import ProgramModel, silenced_output


class Noted(ProgramModel):
    """A model that is a text."""

    SAVED = ("size_",)

    def fit(self, X, Y):
        self.n_features_in_, self.n_labels_, self.size_ = 2, 3, np.arange(2)
        self._new_folder()
        (self._files / "note.txt").write_text(X)
        return self

    def _load_program(self):
        self.note = (self._files / "note.txt").read_text()

    def _answers(self, X, k, least):
        raise NotImplementedError

    def _write_files(self, folder):
        super()._write_files(folder)
        if (folder / "note.txt").read_text() == "bad":
            raise OSError("disk full")


def test_the_files_of_the_program_are_listed_and_replaced_with_the_rest(tmp_path):
    for note in ("old", "new"):
        Noted().fit(note, None).save(tmp_path / "model")
        assert set(listed_in(tmp_path / "model")) == {"model.json", "program/note.txt", "size_.npy"}
    loaded = Noted.load(tmp_path / "model")
    loaded.save(tmp_path / "model")
    loaded = Noted.load(tmp_path / "model")
    assert loaded.note == "new"
    np.testing.assert_array_equal(loaded.size_, [0, 1])
    assert {file.name for file in (tmp_path / "model").iterdir()} == {"model.json", "program", "size_.npy", NAME}


def test_a_program_that_fails_to_write_leaves_the_model_of_before(tmp_path):
    Noted().fit("old", None).save(tmp_path / "model")
    with pytest.raises(OSError, match="disk full"):
        Noted().fit("bad", None).save(tmp_path / "model")
    assert Noted.load(tmp_path / "model").note == "old"


def write_all(end):
    for descriptor in (1, 2):
        os.write(descriptor, end)


@silenced_output()
def fail_loudly():
    write_all(b"progress")
    raise ValueError("broken")


def test_only_what_is_written_inside_is_not_seen_also_after_a_failure(capfd):
    with pytest.raises(ValueError, match="broken"):
        fail_loudly()
    write_all(b"behind")
    assert capfd.readouterr() == ("behind", "behind")
