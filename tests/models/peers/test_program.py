"""Models whose files are a program's: they are a part of the folder, which appears and is replaced as a whole."""

import os

import pytest

from xmlc.core.checksums import NAME, listed_in
from xmlc.models.peers.program import SHOWN_BYTES, ProgramModel, silenced_output


class Noted(ProgramModel):
    """A model that is a text."""

    def fit(self, X, Y):
        self.n_features_in_, self.n_labels_ = 2, 3
        self.note = X
        return self

    def _write_files(self, folder):
        (folder / "program").mkdir()
        (folder / "program/note.txt").write_text(self.note)

    def _use_files(self, folder):
        self.note = (folder / "program/note.txt").read_text()


def test_the_files_of_the_program_are_listed_and_replaced_with_the_rest(tmp_path):
    for note in ("old", "new"):
        Noted().fit(note, None).save(tmp_path / "model")
        assert set(listed_in(tmp_path / "model")) == {"model.json", "program/note.txt"}
    Noted.load(tmp_path / "model").save(tmp_path / "model")
    assert Noted.load(tmp_path / "model").note == "new"
    assert {file.name for file in tmp_path.rglob("*")} == {"model", "model.json", "program", "note.txt", NAME}


def test_a_program_that_fails_to_write_leaves_the_model_of_before(tmp_path):
    Noted().fit("old", None).save(tmp_path / "model")
    with pytest.raises(TypeError):
        Noted().fit(3, None).save(tmp_path / "model")
    assert Noted.load(tmp_path / "model").note == "old"


# Output is held back at the file descriptors, and shown where something fails.


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
