"""Test files of texts: all formats, as other programs write them, give the same documents."""

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import warnings
from pathlib import Path

import pytest
from facts import absent, raises_with, warns_with

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import Columns, Document, documents

DOCUMENTS = [
    Document("rice, boiled", ["cooking", "easy meals"]),
    Document('a "quoted" rose', []),
    Document("soil", ["garden"]),
]
FILES = {
    "a.csv": (
        'id,text,labels\n1,"rice, boiled",cooking; easy meals\n2,"a ""quoted"" rose",\n'
        "3,soil,garden;\n"
    ),
    "a.tsv": 'rice, boiled\tcooking;easy meals\na "quoted" rose\nsoil\tgarden\n',
    "c.tsv": (
        'text\tlabels\n"rice, boiled"\tcooking;easy meals\n"a ""quoted"" rose"\t\nsoil\tgarden\n\n'
    ),
    "C.CSV": (
        'text,labels\n"rice, boiled",cooking;easy meals\n"a ""quoted"" rose",\nsoil,garden\n\n'
    ),
    "b.tsv": ('labels\ttext\ncooking;easy meals\trice, boiled\n\ta "quoted" rose\ngarden\tsoil\n'),
    "a.jsonl": "".join(
        json.dumps({"text": text, "labels": names}) + "\n" for text, names, _ in DOCUMENTS
    ),
    "a.ndjson": "".join(
        json.dumps({"text": text, "labels": ";".join(names)}) + "\n" for text, names, _ in DOCUMENTS
    ),
    "a.json": json.dumps(
        [{"text": text, "labels": dict.fromkeys(names, 1.0)} for text, names, _ in DOCUMENTS]
    ),
    "b.json": json.dumps(
        [{"text": text, "labels": names or None} for text, names, _ in DOCUMENTS], indent=4
    )
    + "\n\n",
    "c.json": "".join(
        json.dumps({"text": text, "labels": json.dumps(names)}) + "\n"
        for text, names, _ in DOCUMENTS
    ),
    "excel.csv": (
        'sep=;\nid;text;labels\n1;rice, boiled;"cooking;easy meals"\n'
        '2;"a ""quoted"" rose";\n3;soil;garden\n'
    ),
    "studio.csv": 'text,labels\n"rice, boiled","{""choices"": [""cooking"", ""easy meals""]}"\n'
    '"a ""quoted"" rose",\nsoil,garden\n',
    "semicolons.csv": (
        'id;text;labels\n1;rice, boiled;"cooking;easy meals"\n2;"a ""quoted"" rose";\n'
        "3;soil;garden\n"
    ),
    "bars.csv": (
        'text| labels \nrice, boiled|cooking;easy meals\n"a ""quoted"" rose"|\nsoil|garden\n'
    ),
    "tabs.csv": (
        'labels\ttext\ncooking;easy meals\trice, boiled\n\t"a ""quoted"" rose"\ngarden\tsoil\n'
    ),
    "annif.jsonl": "".join(
        json.dumps(
            {"text": text, "subjects": [{"uri": "http://x/", "label": name} for name in names]}
        )
        + "\n"
        for text, names, _ in DOCUMENTS
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_format_gives_same_documents(name, end, tmp_path):
    (tmp_path / name).write_bytes(FILES[name].replace("\n", end).encode("utf-8-sig"))
    assert list(documents(tmp_path / name)) == DOCUMENTS


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files_are_read(suffix, compress, tmp_path):
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(compress(FILES["a.csv"].encode()))
    assert list(documents(path)) == DOCUMENTS


def test_uris_with_given_separator_and_fasttext_words_are_read(tmp_path):
    (tmp_path / "a.tsv").write_text("Rosa canina\t<http://x/1>\thttp://x/2\n")
    (tmp_path / "b.tsv").write_text("Rosa canina\t<http://x/1> <http://x/2>\n")
    (tmp_path / "a.csv").write_text("text,subject_uris\nRosa canina,<http://x/1> <http://x/2>\n")
    (tmp_path / "a.txt").write_text(
        "__label__a __label__b-c Rosa canina\n\nrice __label__c __label__c\n"
    )
    expected = [Document("Rosa canina", ["http://x/1", "http://x/2"])]
    for name, separator in (("a.tsv", "\t"), ("b.tsv", " "), ("a.csv", " ")):
        assert list(documents(tmp_path / name, columns=Columns(separator=separator))) == expected
    found = list(documents(tmp_path / "a.txt"))
    assert found == [
        Document("Rosa canina", ["a", "b-c"]),
        Document("", []),
        Document("rice", ["c"]),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "title,labels\nrice,a\n", ["a.csv:1", "title, labels", "text"]),
        ("a.csv", "text,labels\nrice,a\nrice, boiled,a\n", ["a.csv:3", "3 columns", "2"]),
        ("a.tsv", "rice\ta\tb\n", ["a.tsv:1", "3 columns"]),
        (
            "a.tsv",
            "rose\ta\nrice\thttp://x/1\thttp://x/2\n",
            ["a.tsv:2", "3 columns", r"--separator '\t'"],
        ),
        ("a.tsv", "rose\ta\nrice\thttp://x/1 http://x/2\n", ["a.tsv:2", "column 2", "--separator"]),
        (
            "a.csv",
            "text,subjects\nrose,a\nrice,urn:a urn:b\n",
            ["a.csv:3", "column 'subjects'", "'urn:a urn:b'"],
        ),
        (
            "a.csv",
            'text,labels\nboil rice, "cooking"\n',
            ["a.csv:2", "column 'labels'", "cooking", "quotes"],
        ),
        (
            "a.csv",
            "text,labels\nrose,a\nrice,AT&amp;T\n",
            ["a.csv:3", "column 'labels'", "'AT&amp;T'"],
        ),
        (
            "a.csv",
            """text,labels\nrice,"['a', 'b']"\n""",
            ["a.csv:2", "column 'labels'", "['a', 'b']", '["a", "b"]'],
        ),
        (
            "a.jsonl",
            """{"text": "rice", "tags": 1, "labels": "{'a'}"}\n""",
            ["a.jsonl:1", "key 'labels'", "{'a'}"],
        ),
        ("a.csv", "text,labels\nrice,1;0;1\n", ["a.csv:2", "column 'labels'", "['1', '0', '1']"]),
        ("a.jsonl", '{"text": "rice"}\n{"title": "rose"}\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": 3, "labels": ["a"]}\n', ["a.jsonl:1", "3", "text"]),
        ("a.jsonl", '{"title": "rice"}\n', ["'title'", "text"]),
        ("a.jsonl", '\n{"text": "rice", "text": "rose"}\n', "a.jsonl:2"),
        ("a.jsonl", "[" * 100_000, "a.jsonl:1"),
        ("a.jsonl", '{"text": ' + "[" * 100_000, "a.jsonl:1"),
        ("a.jsonl", '{"text": "rice"}\n{"text": "\\ud800"}\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": "rice", "labels": ["\\udc00"]}\n', "a.jsonl:1"),
        ("a.csv", 'text,labels\nrice,"[""\\ud800""]"\n', "a.csv:2"),
        ("a.json", '[\n{"text": "rice"},\n\n{"title": "rose"}]\n', "a.json:4"),
        ("a.json", '[\n{"text": "rice"},\n{"text": "rose"}\n', "a.json:4: found ''"),
        ("a.json", '[{"text": "rice"}]\n[]', "a.json:2: found '[]'"),
        ("a.json", '[{"text": "rice"},\n]', "a.json:2: found ']'"),
        ("a.json", '{\n"text": "rice"\n}\n', "a.json:1: found '{'"),
        ("a.jsonl", "rice\n", "a.jsonl:1: found 'rice'"),
        ("a.doc", "rice\n", "csv"),
        ("a.csv", 'text,labels\nrose,b\n"rice,a\nsoil,c\n', "a.csv:3"),
        ("a.csv", 'text,labels\n"rice\nrose",b\n"rice"s,a\n', "a.csv:4"),
        ("a.csv", "text,labels\rrice,a\r", "a.csv:1"),
        ("a.csv", "text,labels,labels\nrice,a,b\n", ["a.csv:1", "text, labels, labels"]),
        ("a.csv", "text,subjects,subjects\nrice,a,b\n", ["a.csv:1", "text, subjects, subjects"]),
        ("a.tsv", "title\tsubjects\nboil rice\ta\n", ["a.tsv:1", "title, subjects"]),
        ("a.tsv", "text\tlabels\tlabels\nrice\ta\tb\n", ["a.tsv:1", "text, labels, labels"]),
        ("a.txt", "__label__a,__label__b rice\n", "a.txt:1: found '__label__a,__label__b'"),
        ("a.txt", '"__label__a __label__b rice"\n', """a.txt:1: found '"__label__a'"""),
        (
            "a.jsonl",
            '{"text": "rice", "label": "a", "answer": "reject"}\n',
            ["a.jsonl:1", "'reject'"],
        ),
        ("a.csv", "text,text,labels\nrice,rice,a\n", ["a.csv:1", "text, text, labels"]),
    ],
)
def test_malformed_text_is_reported_with_line(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    with raises_with(XmlcError, said):
        list(documents(tmp_path / name))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_truncated_compressed_file_is_refused(compress, tmp_path):
    data = compress(b"text,labels\n" + b"".join(b"rice %d,a\n" % i for i in range(9999)))
    (tmp_path / "a.csv").write_bytes(data[: len(data) // 2])
    with pytest.raises(XmlcError):
        list(documents(tmp_path / "a.csv"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.txt"])
@pytest.mark.parametrize(
    "line", [b"\xff\xfe,a", b"\xed\xa0\x80", b"caf\xe9", "rice".encode("utf-16-le")]
)
def test_lines_with_invalid_utf_8_are_refused(name, line, tmp_path):
    first = "[" if name == "a.json" else FILES.get(name, "rice __label__a\n").partition("\n")[0]
    (tmp_path / name).write_bytes(first.encode() + b"\n" + line + b"\n")
    with raises_with(XmlcError, f"{name}:2", "UTF-8"):
        list(documents(tmp_path / name))


UNICODE_BLANKS = "\u00a0\u2028\u2029\x85\x1c\x1d\x1e\x1f\u3000"


@pytest.mark.parametrize("blank", UNICODE_BLANKS)
def test_unicode_blanks_end_no_line_and_no_name(blank, tmp_path):
    text = f"rice{blank}rose"
    name = f"{blank}New{blank}York"
    rows = [{"text": text, "labels": [f" {name}\t", name]}, {"text": blank, "labels": [blank]}]
    written = {
        "a.csv": f"text,labels\n{text}, {name} ;{name}\n{blank},{blank}\n",
        "a.tsv": f"{text}\t {name} ;{name}\n{blank}\t{blank}\n",
        "a.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        "a.txt": f"{text} __label__{name}\n{blank} __label__{blank}\n",
    }
    for file, content in written.items():
        (tmp_path / file).write_text(content, encoding="utf-8", newline="")
        assert list(documents(tmp_path / file)) == [
            Document(text, [name]),
            Document(blank, [blank]),
        ]


def test_lone_carriage_return_does_not_end_line(tmp_path):
    expected = [Document("boil rice\rfry onions", ["a", "b\rc"]), Document("soil", ["d"])]
    written = {
        "a.csv": 'text,labels\n"boil rice\rfry onions","a;b\rc"\nsoil,d\n',
        "a.tsv": "boil rice\rfry onions\ta;b\rc\nsoil\td\n",
        "a.jsonl": "".join(
            json.dumps({"text": text, "labels": names}) + "\r\n" for text, names, _ in expected
        ),
    }
    for name, content in written.items():
        (tmp_path / name).write_text(content, newline="")
        assert list(documents(tmp_path / name)) == expected
    (tmp_path / "a.txt").write_text("boil rice\rfry onions __label__a\nsoil\n", newline="")
    with warns_with(UserWarning, "1 of 2 texts"):
        assert len(list(documents(tmp_path / "a.txt"))) == 2


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
def test_warning_counts_unlabelled_lines_if_half_lack_labels(name, tmp_path, recwarn):
    rows = [(f"boil rice {i}", ["a"] if i < 2 else []) for i in range(5)]
    written = {
        "a.csv": "text,labels\n" + "".join(f"{text},{';'.join(names)}\n" for text, names in rows),
        "a.tsv": "".join("\t".join([text, *names]) + "\n" for text, names in rows),
        "a.jsonl": "".join(
            json.dumps({"text": text, "labels": names}) + "\n" for text, names in rows
        ),
        "a.txt": "".join(
            " ".join([text, *(f"__label__{each}" for each in names)]) + "\n" for text, names in rows
        ),
    }
    (tmp_path / name).write_text(written[name])
    assert len(list(documents(tmp_path / name, labelled=False))) == 5
    assert len(recwarn) == 0
    list(documents(tmp_path / name))
    assert len(recwarn) == 1
    assert absent(str(recwarn[0].message), name, "3 of 5 texts") == []


def test_first_line_like_header_causes_warning(tmp_path):
    (tmp_path / "a.tsv").write_text(
        "Titel\tThemen\nboil rice\ta\nfry onions\ta;b\nprune roses\tc\n"
    )
    with warns_with(UserWarning, "a.tsv:1", "'Titel'", "'Themen'", "--text"):
        list(documents(tmp_path / "a.tsv"))
    found = list(documents(tmp_path / "a.tsv", columns=Columns("Titel", "Themen")))
    assert found[1] == Document("fry onions", ["a", "b"])
    with raises_with(XmlcError, "a.tsv:1", "Titel, Themen", "Title"):
        list(documents(tmp_path / "a.tsv", columns=Columns("Title")))


@pytest.mark.parametrize("mark", [",", "|", "#"])
def test_cells_with_another_separator_cause_hint(mark, tmp_path, recwarn):
    lines = "".join(f'text {i},"a{mark} b"\n' for i in range(4))
    (tmp_path / "a.csv").write_text(f"text,labels\n{lines}soil,garden\n")
    list(documents(tmp_path / "a.csv"))
    assert absent(str(recwarn[0].message), "4 of 5 cells", f"'{mark}'") == []
    assert next(documents(tmp_path / "a.csv", columns=Columns(separator=mark))).labels == ["a", "b"]
    (tmp_path / "a.csv").write_text(f"text,labels\n{lines}soil,garden;roses\n")
    list(documents(tmp_path / "a.csv"))
    assert len(recwarn) == 1


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.jsonl", '{"text": "rice"}\n', Columns(delimiter=";")),
        ("a.txt", "rice __label__a\n", Columns(separator=";")),
        ("a.csv", "text,labels\nrice,a\n", Columns(delimiter=", ")),
        ("a.csv", "text,labels\nrice,a\n", Columns(delimiter=";")),
    ],
)
def test_options_that_mismatch_file_are_refused(name, text, columns, tmp_path):
    (tmp_path / name).write_text(text)
    with raises_with(XmlcError, name, "--separator" if columns.separator else "--delimiter"):
        list(documents(tmp_path / name, columns=columns))


def test_label_with_two_uris_is_refused(tmp_path, monkeypatch):
    rows = [
        {
            "text": "tea",
            "subjects": [
                {"uri": "http://x/1", "label": "Java"},
                {"uri": "http://x/2", "label": "Tea"},
            ],
        },
        {"text": "code", "subjects": [{"uri": "http://x/3", "label": "Java"}]},
    ]
    written = "".join(json.dumps(row) + "\n" for row in rows)
    facts = ["key 'subjects'", "'Java'", "'http://x/1'", "'http://x/3'", "list of URIs"]
    for name, content in [
        ("a.jsonl", written),
        ("a.json", json.dumps(rows, indent=None).replace("}, {", "},\n{")),
    ]:
        (tmp_path / name).write_text(content)
        with raises_with(XmlcError, name, *facts):
            list(documents(tmp_path / name))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written.encode())))
    with raises_with(XmlcError, "-:2", *facts):
        list(documents(Path("-"), "jsonl"))
    rows = [
        {"text": row["text"], "subjects": [each["uri"] for each in row["subjects"]]} for row in rows
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    assert [document.labels for document in documents(tmp_path / "a.json")] == [
        ["http://x/1", "http://x/2"],
        ["http://x/3"],
    ]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_standard_input_may_be_compressed(compress, monkeypatch):
    content = compress(b'{"text": "tea", "labels": ["a"]}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert list(documents(Path("-"), "jsonl")) == [Document("tea", ["a"])]


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("a.csv", ["text,labels", *(f"rice {i},{i % 2}" for i in range(4))], "'labels'"),
        ("a.csv", ["text,labels", *(f"rice {i},{i % 2 == 0}" for i in range(4))], "False, True"),
        ("a.csv", ["text,labels", "rice,nan", "soil,a", "rose,nan"], ["2 of 3 texts", "'nan'"]),
        ("a.tsv", [f"ham\tboil rice {i}" for i in range(30)], "swapped"),
        ("a.txt", ["__label__a, __label__b, rice", "__label__a, soil"], "2 of 2 labels"),
        ("a.jsonl", ['{"text": "rice", "label": 3}'], ["'labels'", "'text', 'label'"]),
        ("a.csv", ["text,label", "rice,a"], ["'labels'", "'text', 'label'"]),
    ],
)
def test_suspicious_labels_cause_warning(name, rows, said, tmp_path):
    (tmp_path / name).write_text("\n".join(rows))
    with warns_with(UserWarning, said):
        assert len(list(documents(tmp_path / name))) >= len(rows) - 1


def test_files_without_rows_have_no_texts(tmp_path):
    for name, text in {
        "a.csv": "",
        "b.csv": "text,labels\n",
        "a.tsv": "",
        "a.jsonl": "",
        "a.json": "[]",
    }.items():
        (tmp_path / name).write_text(text)
        assert list(documents(tmp_path / name)) == []


def test_numeric_labels_become_names(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "rice", "labels": [3, 17]}\n')
    assert list(documents(tmp_path / "a.jsonl")) == [Document("rice", ["3", "17"])]


@pytest.mark.parametrize(
    "header", ["Document Title\tSubject Headings", "job title\tjob category", "THE TEXT\tTopics"]
)
def test_header_of_several_words_causes_warning(header, tmp_path):
    rows = "".join(f"boil rice {i}\tcooking\n" for i in range(3))
    (tmp_path / "a.tsv").write_text(f"{header}\n{rows}")
    with warns_with(UserWarning, "a.tsv:1", header.split("\t")[0], "--labels"):
        assert len(list(documents(tmp_path / "a.tsv"))) == 4
    (tmp_path / "a.tsv").write_text(f"{header}\n{rows}new text\t{header.split(chr(9))[1]}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(documents(tmp_path / "a.tsv"))


def test_one_semicolon_does_not_hide_another_separator(tmp_path):
    cells = ["R&D;b", *(f"a{i % 5},b{i % 3}" for i in range(50))]
    (tmp_path / "a.csv").write_text("text,labels\n" + "".join(f'rice,"{cell}"\n' for cell in cells))
    with warns_with(UserWarning, "50 of 51", "--separator"):
        list(documents(tmp_path / "a.csv"))
    cells = [f"a{i % 5};b,c" for i in range(50)]
    (tmp_path / "a.csv").write_text("text,labels\n" + "".join(f'rice,"{cell}"\n' for cell in cells))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(documents(tmp_path / "a.csv"))


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "[1, Infinity]"])
def test_infinite_number_to_keep_is_refused_with_its_line(number, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a", "no": 1}\n{"text": "a", "no": ' + number + "}\n"
    )
    with raises_with(XmlcError, "a.jsonl:2", "finite"):
        list(documents(tmp_path / "a.jsonl", columns=Columns(keep=("no",))))


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
def test_delimiter_of_excel_is_read_and_lines_keep_their_numbers(mark, tmp_path):
    rows = [["text", "labels"], ["rice; a, b", "cooking"], ["soil", "garden", "more"]]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=mark, lineterminator="\r\n").writerows(rows)
    (tmp_path / "a.csv").write_bytes(f"SEP={mark}\r\n{file.getvalue()}".encode("utf-8-sig"))
    found = documents(tmp_path / "a.csv")
    assert next(found) == Document("rice; a, b", ["cooking"])
    with raises_with(XmlcError, "a.csv:4", "3 columns"):
        next(found)
    (tmp_path / "a.csv").write_text("sep=;\ntext,labels\nrice;a,b\n")
    assert list(documents(tmp_path / "a.csv", columns=Columns(delimiter=","))) == [
        Document("rice;a", ["b"])
    ]


def test_language_names_cause_no_hint(tmp_path, recwarn):
    lines = "".join(f"text {i},{name}\n" for i in range(9) for name in ("C#", "F#", "C"))
    (tmp_path / "a.csv").write_text(f"text,labels\n{lines}")
    assert {document.labels[0] for document in documents(tmp_path / "a.csv")} == {"C#", "F#", "C"}
    assert len(recwarn) == 0
