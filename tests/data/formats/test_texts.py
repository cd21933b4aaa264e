"""Files of texts: each format gives the same documents, as the programs write it whose format it is."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import Document, documents

DOCUMENTS = [
    Document("rice, boiled", ["cooking", "easy meals"]),
    Document('a "quoted" rose', []),
    Document("soil", ["garden"]),
]
FILES = {
    "a.csv": 'id,text,labels\n1,"rice, boiled",cooking; easy meals\n2,"a ""quoted"" rose",\n3,soil,garden;\n',
    "a.tsv": 'rice, boiled\tcooking;easy meals\na "quoted" rose\nsoil\tgarden\n',
    "c.tsv": 'text\tlabels\n"rice, boiled"\tcooking;easy meals\n"a ""quoted"" rose"\t\nsoil\tgarden\n\n',
    "C.CSV": 'text,labels\n"rice, boiled",cooking;easy meals\n"a ""quoted"" rose",\nsoil,garden\n\n',
    "b.tsv": 'labels\ttext\ncooking;easy meals\trice, boiled\n\ta "quoted" rose\ngarden\tsoil\n',
    "a.jsonl": "".join(json.dumps({"text": text, "labels": names}) + "\n" for text, names in DOCUMENTS),
    "annif.jsonl": "".join(
        json.dumps({"text": text, "subjects": [{"uri": "http://x/", "label": name} for name in names]}) + "\n"
        for text, names in DOCUMENTS
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_format(name, end, tmp_path):
    (tmp_path / name).write_bytes(FILES[name].replace("\n", end).encode("utf-8-sig"))
    assert list(documents(tmp_path / name)) == DOCUMENTS


def test_numbers_are_names(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "rice", "labels": [3, 17]}\n')
    assert list(documents(tmp_path / "a.jsonl")) == [Document("rice", ["3", "17"])]


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed(suffix, compress, tmp_path):
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(compress(FILES["a.csv"].encode()))
    assert list(documents(path)) == DOCUMENTS


def test_uris_of_annif_and_words_of_fasttext(tmp_path):
    (tmp_path / "a.tsv").write_text("Rosa canina\t<http://x/1>\thttp://x/2\n")
    (tmp_path / "a.csv").write_text("text,subject_uris\nRosa canina,<http://x/1> <http://x/2>\n")
    (tmp_path / "a.txt").write_text("__label__a __label__b-c Rosa canina\n\nno labels\n")
    expected = [Document("Rosa canina", ["http://x/1", "http://x/2"])]
    assert list(documents(tmp_path / "a.tsv")) == expected
    assert list(documents(tmp_path / "a.csv")) == expected
    found = list(documents(tmp_path / "a.txt"))
    assert found == [Document("Rosa canina", ["a", "b-c"]), Document("", []), Document("no labels", [])]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "title,labels\nrice,a\n", "a.csv:1: found columns title, labels, expected one named text"),
        ("a.csv", "text,labels\nrice,a\nrice, boiled,a\n", "a.csv:3: found 3 columns, expected 2 as in the header"),
        ("a.tsv", "rice\ta\tb\n", "a.tsv:1: found 3 columns"),
        ("a.jsonl", '{"text": "rice"}\n{"title": "rose"}\n', "a.jsonl:2: found"),
        ("a.jsonl", '{"text": "rice", "labels": "a"}\n', "a.jsonl:1: expected a string"),
        ("a.jsonl", "rice\n", "a.jsonl:1: found 'rice'"),
        ("a.doc", "rice\n", "found format '', expected one of csv"),
        ("a.csv", 'text,labels\n"rice,a\n', "unexpected end of data; expected each quote to be closed"),
        ("a.csv", "text,text,labels\nrice,rice,a\n", "a.csv:1: found columns text, text, labels, expected one"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(XmlcError) as error:
        list(documents(tmp_path / name))
    assert said in str(error.value)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_the_beginning_of_a_compressed_file_is_no_interruption(compress, tmp_path):
    data = compress(b"text,labels\n" + b"".join(b"rice %d,a\n" % i for i in range(9999)))
    (tmp_path / "a.csv").write_bytes(data[: len(data) // 2])
    with pytest.raises(XmlcError, match="damaged or cut off"):
        list(documents(tmp_path / "a.csv"))


def test_no_text_and_no_file(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,labels\n\xff\xfe,a\n")
    with pytest.raises(XmlcError, match="UTF-8"):
        list(documents(tmp_path / "a.csv"))
    with pytest.raises(XmlcError, match="no such file"):
        list(documents(Path("absent.csv")))
