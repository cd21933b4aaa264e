"""What servers hand out instead of data, and data of every format."""

import bz2
import gzip
import lzma

import pytest
from archive_cases import tar_of, zip_of

from xmlc.core.errors import XmlcError
from xmlc.data.download import OtherFormat, check_folder, check_is_data


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"<!DOCTYPE html><title>Quota", "an HTML page"),
        (b"\xef\xbb\xbf  \n<HTML>", "an HTML page"),
        (b"<?xml version='1.0'?><!DOCTYPE html>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:29\nsize 6\n", "a Git LFS pointer"),
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b'{"error": {"code": 403, "message": "quota"}}', "JSON"),
        (b'[{"name": "train.txt"}]', "JSON"),
        (b"Too many users have viewed or downloaded this file recently.", "a text instead of data: 'Too many users"),
        (b"# comment\nNot Found", "a text instead of data"),
        (b"\x89HDF\r\n\x1a\n\0\0", "a text instead of data"),
        (gzip.compress(b"<html>quota</html>", mtime=0), "an HTML page"),
        (lzma.compress(b'{"error": 1}'), "JSON"),
        (gzip.compress(b"1 2 3\n" * 99, mtime=0)[:12], "a damaged file"),
        (bz2.compress(b""), "an empty file"),
    ],
)
def test_what_is_not_data_is_refused(tmp_path, head, found):
    (tmp_path / "f").write_bytes(head)
    with pytest.raises(XmlcError, match=f"found {found}"):
        check_is_data(tmp_path / "f")


@pytest.mark.parametrize(
    "head",
    [
        b"1 2 3\n",
        b"1,2 0:1e-5 7:.25\n",
        b"# a comment\n1,2 1:-0.5 # another\n",
        b"0 | words here:1\n",
        b"1,7:0.5 'tag|text a b\n",
        b'<?xml version="1.0"?><labels xmlns="x"><label name="a"/>',
        b"@relation x",
        b"% Mulan\n\n@RELATION x",
        zip_of({"a": b"Error"}),
        tar_of({"a": b"Error"}),
        gzip.compress(b"1 2 3\n0 0:1\n", mtime=0),
        *(compress(b"1 2 3\n0 0:1\n") for compress in (bz2.compress, lzma.compress)),
    ],
)
def test_data_is_not_refused(tmp_path, head):
    (tmp_path / "f").write_bytes(head)
    check_is_data(tmp_path / "f")


@pytest.mark.parametrize("head", [b"404", b"404\n1 2 3\n", b"1 2 3 4\n"])
def test_a_number_is_no_header_of_three_counts(tmp_path, head):
    (tmp_path / "f").write_bytes(head)
    check_is_data(tmp_path / "f")
    with pytest.raises(XmlcError, match="found no header of three counts"):
        check_is_data(tmp_path / "f", with_header=True)
    (tmp_path / "f").write_bytes(b"10 20 3\r\n")
    check_is_data(tmp_path / "f", with_header=True)


@pytest.mark.parametrize(
    ("head", "entry"),
    [
        (b"1,4 3:0.5 7:1\n2 1:1\n", "format: svmlight"),
        (b"1,2 | a:0.5 b\n", "format: vw"),
        (b"% a comment\n@RELATION medical\n", "format: arff, labels"),
        (b"@relation 'a: -C 6'\n", "format: arff}"),
        (b"100 20\n0:1\n", "format: repository-two-files"),
        (b"label,text\n1,hello\n", ""),
    ],
)
def test_other_formats_are_recognised_where_a_header_is_expected(tmp_path, head, entry):
    (tmp_path / "f").write_bytes(head)
    with pytest.raises(OtherFormat, match="found what looks like") as error:
        check_is_data(tmp_path / "f", with_header=True)
    assert entry in error.value.entry
    assert ("my-set: {source: mirror" if entry else "X.trn.npz") in error.value.advice("my-set")


def test_of_several_files_the_wrong_one_is_named(tmp_path):
    for name, content in {"a.txt": b"1 1 1\n", "b.txt": b"7\n", "c.xml": b"<labels/>"}.items():
        (tmp_path / name).write_bytes(content)
    check_folder(tmp_path, ["a.txt"])
    with pytest.raises(XmlcError, match=r"^b\.txt: found no header"):
        check_folder(tmp_path, ["a.txt", "b.txt"])
