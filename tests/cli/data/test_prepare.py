"""`xmlc prepare`: how far compressed files may expand is said on the command line, for the one command."""

import gzip

import pytest
from command_line import call

from xmlc.cli.data.prepare import command
from xmlc.data.compressed import USUAL, expansion
from xmlc.errors import XmlcError


def test_files_that_expand_far_are_read_where_the_command_line_says_so(tmp_path):
    (tmp_path / "source").mkdir()
    for part, blank_lines in (("train", 20_000_000), ("test", 0)):
        text = b"20 2 2\n" + b"0 0:1\n1 1:1\n" * 10 + b"\n" * blank_lines
        (tmp_path / "source" / f"{part}.txt.gz").write_bytes(gzip.compress(text, compresslevel=1))
    folders = (
        "--source",
        tmp_path / "source",
        "--out",
        tmp_path / "data",
        "--statistics",
        tmp_path / "statistics.json",
    )
    with pytest.raises(XmlcError, match=r"train\.txt\.gz: expands from .* raise expansion"):
        call(command, "far", *folders)
    assert not (tmp_path / "data").exists()
    call(command, "far", *folders, "--expansion", 1000, 1)
    assert (tmp_path / "data/meta.json").exists()
    assert expansion() == USUAL
