"""Test files of texts: all formats, as other programs write them, give the same documents."""

import csv
import gzip
import io
import json
import sys
import warnings
from pathlib import Path

import pytest
from facts import absent, raises_with, warns_with

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import Columns, Document, documents


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(name, content=None, **columns):
    """Return the documents of a file, which has the given content, or else exists."""
    if content is not None:
        Path(name).write_text(content, encoding="utf-8", newline="")
    return list(documents(Path(name), columns=Columns(**columns)))


def read_without_warning(*arguments, **columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read(*arguments, **columns)


def json_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


DOCUMENTS = [
    Document("rice, boiled", ["cooking", "easy meals"]),
    Document('a "quoted" rose', []),
    Document("soil", ["garden"]),
]


def with_labels(form, key="labels"):
    """Return the documents as JSON objects, whose labels have another form."""
    return [{"text": text, key: form(names)} for text, names, _ in DOCUMENTS]


def subjects(names):
    return [{"uri": "http://x/", "label": name} for name in names]


FILES = {
    "a.csv": (
        'id,text,labels\n1,"rice, boiled",cooking; easy meals\n2,"a ""quoted"" rose",\n'
        "3,soil,garden;\n"
    ),
    "a.tsv": 'rice, boiled\tcooking;easy meals\na "quoted" rose\nsoil\tgarden\n',
    "C.CSV": (
        'text,labels\n"rice, boiled",cooking;easy meals\n"a ""quoted"" rose",\nsoil,garden\n\n'
    ),
    "b.tsv": ('labels\ttext\ncooking;easy meals\trice, boiled\n\ta "quoted" rose\ngarden\tsoil\n'),
    "a.jsonl": json_lines(with_labels(list)),
    "a.ndjson": json_lines(with_labels(";".join)),
    "a.json": json.dumps(with_labels(lambda names: dict.fromkeys(names, 1.0))),
    "b.json": json.dumps(with_labels(lambda names: names or None), indent=4) + "\n\n",
    "c.json": json_lines(with_labels(json.dumps)),
    "excel.csv": (
        'sep=;\nid;text;labels\n1;rice, boiled;"cooking;easy meals"\n'
        '2;"a ""quoted"" rose";\n3;soil;garden\n'
    ),
    "studio.csv": 'text,labels\n"rice, boiled","{""choices"": [""cooking"", ""easy meals""]}"\n'
    '"a ""quoted"" rose",\nsoil,garden\n',
    "bars.csv": (
        'text| labels \nrice, boiled|cooking;easy meals\n"a ""quoted"" rose"|\nsoil|garden\n'
    ),
    "tabs.csv": (
        'labels\ttext\ncooking;easy meals\trice, boiled\n\t"a ""quoted"" rose"\ngarden\tsoil\n'
    ),
    "annif.jsonl": json_lines(with_labels(subjects, "subjects")),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_format_gives_same_documents(name, end):
    Path(name).write_bytes(FILES[name].replace("\n", end).encode("utf-8-sig"))
    assert read(name) == DOCUMENTS


def test_uris_with_given_separator_and_fasttext_words_are_read():
    expected = [Document("Rosa canina", ["http://x/1", "http://x/2"])]
    assert read("a.tsv", "Rosa canina\t<http://x/1>\thttp://x/2\n", separator="\t") == expected
    assert read("b.tsv", "Rosa canina\t<http://x/1> <http://x/2>\n", separator=" ") == expected
    rows = "text,subject_uris\nRosa canina,<http://x/1> <http://x/2>\n"
    assert read("a.csv", rows, separator=" ") == expected
    lines = "__label__a __label__b-c Rosa canina\n\nrice __label__c __label__c\n"
    assert read("a.txt", lines) == [
        Document("Rosa canina", ["a", "b-c"]),
        Document("", []),
        Document("rice", ["c"]),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "title,labels\nrice,a\n", ["a.csv:1", "title, labels", "text"]),
        ("a.csv", "Text,Labels\nrice,a\n", ["a.csv:1", "Did you mean Text?"]),
        ("a.tsv", "Text\tLabels\nrice\ta\n", ["a.tsv:1", "Did you mean Text?"]),
        ("a.jsonl", '{"Text": "rice"}\n', ["a.jsonl:1", "Did you mean Text?"]),
        ("a.tsv", "text,labels\nrice,a\n", ["no '\\t' in any line", "--format", "--delimiter"]),
        (
            "a.csv",
            "text,labels\nrice,a\nrice, boiled,a\n",
            ["a.csv:3", "3 columns", "2", "Quote", "','"],
        ),
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
            "a.jsonl",
            """{"text": "rice", "tags": 1, "labels": "{'a'}"}\n""",
            ["a.jsonl:1", "key 'labels'", "{'a'}"],
        ),
        ("a.jsonl", '{"text": "rice"}\n{"title": "rose"}\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": 3, "labels": ["a"]}\n', ["a.jsonl:1", "3", "text"]),
        ("a.jsonl", '\n{"text": "rice", "text": "rose"}\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": "rice"}\n{"text": "\\ud800"}\n', "a.jsonl:2"),
        ("a.csv", 'text,labels\nrice,"[""\\ud800""]"\n', "a.csv:2"),
        ("a.json", '[\n{"text": "rice"},\n\n{"title": "rose"}]\n', "a.json:4"),
        ("a.json", '[\n{"text": "rice"},\n{"text": "rose"}\n', "a.json:4: found ''"),
        ("a.json", '[{"text": "rice"}]\n[]', "a.json:2: found '[]'"),
        ("a.json", '[{"text": "rice"},\n]', "a.json:2: found ']'"),
        ("a.json", '{\n"text": "rice"\n}\n', "a.json:1: found '{'"),
        ("a.jsonl", "rice\n", "a.jsonl:1: found 'rice'"),
        ("a.jsonl", '{"text": "rice"} {}\n', "a.jsonl:1"),
        ("a.doc", "rice\n", "csv"),
        ("a.csv", 'text,labels\nrose,b\n"rice,a\nsoil,c\n', "a.csv:3"),
        ("a.csv", 'text,labels\n"rice\nrose",b\n"rice"s,a\n', "a.csv:4"),
        ("a.csv", "text,labels\rrice,a\r", "a.csv:1"),
        ("a.tsv", "title\tsubjects\nboil rice\ta\n", ["a.tsv:1", "title, subjects"]),
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
def test_malformed_text_is_reported_with_line(name, text, said):
    with raises_with(XmlcError, said):
        read(name, text)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("a.csv", b"text,labels\n"),
        ("a.tsv", b"rice\ta\n"),
        ("a.jsonl", b'{"text": "rice"}\n'),
        ("a.json", b"[\n"),
        ("a.txt", b"rice __label__a\n"),
    ],
)
@pytest.mark.parametrize("line", [b"\xed\xa0\x80", b"caf\xe9", "rice".encode("utf-16-le")])
def test_lines_with_invalid_utf_8_are_refused(name, first, line):
    Path(name).write_bytes(first + line + b"\n")
    with raises_with(XmlcError, f"{name}:2", "UTF-8"):
        read(name)


@pytest.mark.parametrize("blank", "\u00a0\u2028\x85\x1c")
def test_unicode_blanks_end_no_line_and_no_name(blank):
    text = f"rice{blank}rose"
    name = f"{blank}New{blank}York"
    rows = [{"text": text, "labels": [f" {name}\t", name]}, {"text": blank, "labels": [blank]}]
    written = {
        "a.csv": f"text,labels\n{text}, {name} ;{name}\n{blank},{blank}\n",
        "a.tsv": f"{text}\t {name} ;{name}\n{blank}\t{blank}\n",
        "a.jsonl": json_lines(rows),
        "a.txt": f"{text} __label__{name}\n{blank} __label__{blank}\n",
    }
    for file, content in written.items():
        assert read(file, content) == [Document(text, [name]), Document(blank, [blank])]


def test_lone_carriage_return_does_not_end_line():
    expected = [Document("boil rice\rfry onions", ["a", "b\rc"]), Document("soil", ["d"])]
    rows = [{"text": text, "labels": names} for text, names, _ in expected]
    for name, content in {
        "a.csv": 'text,labels\n"boil rice\rfry onions","a;b\rc"\nsoil,d\n',
        "a.tsv": "boil rice\rfry onions\ta;b\rc\nsoil\td\n",
        "a.jsonl": json_lines(rows).replace("\n", "\r\n"),
    }.items():
        assert read(name, content) == expected
    with warns_with(UserWarning, "1 of 2 texts"):
        assert len(read("a.txt", "boil rice\rfry onions __label__a\nsoil\n")) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "text,labels\nrice,a\nsoil,a\nx,\ny,\nz,\n"),
        ("a.tsv", "boil rice\ta\nsoil\ta\nx\ny\nz\n"),
        ("a.jsonl", '{"text": "rice", "labels": ["a"]}\n' * 2 + '{"text": "x"}\n' * 3),
        ("a.txt", "rice __label__a\n" * 2 + "soil\n" * 3),
    ],
)
def test_warning_counts_unlabelled_lines_if_half_lack_labels(name, text, recwarn):
    Path(name).write_text(text)
    assert len(list(documents(Path(name), labelled=False))) == 5
    assert len(recwarn) == 0
    read(name)
    assert len(recwarn) == 1
    assert absent(str(recwarn[0].message), name, "3 of 5 texts") == []


def test_first_line_like_header_causes_warning():
    with warns_with(UserWarning, "a.tsv:1", "'Titel'", "'Themen'", "--text"):
        read("a.tsv", "Titel\tThemen\nboil rice\ta\nfry onions\ta;b\nprune roses\tc\n")
    found = read("a.tsv", text="Titel", labels="Themen")
    assert found[1] == Document("fry onions", ["a", "b"])
    with raises_with(XmlcError, "a.tsv:1", "Titel, Themen", "Title"):
        read("a.tsv", text="Title")


@pytest.mark.parametrize("header", ["Document Title\tSubject Headings", "THE TEXT\tTopics"])
def test_header_of_several_words_causes_warning(header):
    title, label = header.split("\t")
    rows = f"{header}\n" + "".join(f"boil rice {i}\tcooking\n" for i in range(3))
    with warns_with(UserWarning, "a.tsv:1", title, "--labels"):
        assert len(read("a.tsv", rows)) == 4
    read_without_warning("a.tsv", f"{rows}new text\t{label}\n")


@pytest.mark.parametrize("mark", [",", "|", "#"])
def test_cells_with_another_separator_cause_hint(mark, recwarn):
    lines = "text,labels\n" + "".join(f'text {i},"a{mark} b"\n' for i in range(4))
    read("a.csv", f"{lines}soil,garden\n")
    assert absent(str(recwarn[0].message), "4 of 5 cells", f"'{mark}'") == []
    assert read("a.csv", separator=mark)[0].labels == ["a", "b"]
    read("a.csv", f"{lines}soil,garden;roses\n")
    assert len(recwarn) == 1


def test_hint_depends_on_the_number_of_semicolons():
    cells = [f'rice,"a{i % 5},b{i % 3}"\n' for i in range(50)]
    with warns_with(UserWarning, "50 of 51", "--separator"):
        read("a.csv", "".join(["text,labels\n", "rice,R&D;b\n", *cells]))
    cells = [f'rice,"a{i % 5};b,c"\n' for i in range(50)]
    read_without_warning("a.csv", "".join(["text,labels\n", *cells]))


def test_language_names_cause_no_hint():
    lines = "".join(f"text {i},{name}\n" for i in range(9) for name in ("C#", "F#", "C"))
    found = read_without_warning("a.csv", f"text,labels\n{lines}")
    assert {document.labels[0] for document in found} == {"C#", "F#", "C"}


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.jsonl", '{"text": "rice"}\n', {"delimiter": ";"}),
        ("a.txt", "rice __label__a\n", {"separator": ";"}),
        ("a.csv", "text,labels\nrice,a\n", {"delimiter": ", "}),
        ("a.csv", "text,labels\nrice,a\n", {"delimiter": ";"}),
    ],
)
def test_options_that_mismatch_file_are_refused(name, text, columns):
    (option,) = columns
    with raises_with(XmlcError, name, f"--{option}"):
        read(name, text, **columns)


def test_label_with_two_uris_is_refused_with_its_line(monkeypatch):
    tea = {"text": "tea", "subjects": [{"uri": "http://x/1", "label": "Java"}]}
    code = {"text": "code", "subjects": [{"uri": "http://x/3", "label": "Java"}]}
    facts = ["key 'subjects'", "'Java'", "'http://x/1'", "'http://x/3'", "list of URIs"]
    lines = json_lines([tea, code])
    array = json.dumps([tea, code]).replace("}, {", "},\n{")
    for name, text in (("a.jsonl", lines), ("a.json", array)):
        with raises_with(XmlcError, f"{name}:2", facts):
            read(name, text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    with raises_with(XmlcError, "-:2", facts):
        list(documents(Path("-"), "jsonl"))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
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
def test_suspicious_labels_cause_warning(name, rows, said):
    with warns_with(UserWarning, said):
        assert len(read(name, "\n".join(rows))) >= len(rows) - 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", ""), ("b.csv", "text,labels\n"), ("a.tsv", ""), ("a.jsonl", ""), ("a.json", "[]")],
)
def test_files_without_rows_have_no_texts(name, text):
    assert read(name, text) == []


@pytest.mark.parametrize(
    ("name", "header"),
    [("a.csv", "text\n"), ("a.csv", "sep=;\n\ntext\n"), ("a.tsv", ""), ("b.tsv", "text\n")],
)
def test_blank_lines_of_a_single_column_are_empty_texts(name, header):
    Path(name).write_text(f"{header}a lemon\n\n\nsalmon\n\n")
    found = documents(Path(name), labelled=False)
    assert [document.text for document in found] == ["a lemon", "", "", "salmon"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "text,labels\nrice,a\n\nsoil,b\n"), ("a.tsv", "\nrice\ta\n\nsoil\tb\n")],
)
def test_blank_lines_of_several_columns_are_skipped(name, text):
    assert [document.text for document in read(name, text)] == ["rice", "soil"]


@pytest.mark.parametrize("number", ["1e400", "NaN", "[1, Infinity]"])
def test_infinite_number_to_keep_is_refused_with_its_line(number):
    lines = '{"text": "a", "no": 1}\n{"text": "a", "no": ' + number + "}\n"
    with raises_with(XmlcError, "a.jsonl:2", "finite"):
        read("a.jsonl", lines, keep=("no",))


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
def test_delimiter_of_excel_is_read_and_lines_keep_their_numbers(mark):
    rows = [["text", "labels"], ["rice; a, b", "cooking"], ["soil", "garden", "more"]]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=mark, lineterminator="\r\n").writerows(rows)
    Path("a.csv").write_bytes(f"SEP={mark}\r\n{file.getvalue()}".encode("utf-8-sig"))
    found = documents(Path("a.csv"))
    assert next(found) == Document("rice; a, b", ["cooking"])
    with raises_with(XmlcError, "a.csv:4", "3 columns"):
        next(found)
    text = "sep=;\ntext,labels\nrice;a,b\n"
    assert read("a.csv", text, delimiter=",") == [Document("rice;a", ["b"])]
