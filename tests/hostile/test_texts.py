"""Test random files of texts: they are read back unchanged or refused, in a linear number of
steps.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import sys
import warnings
from collections import Counter

import pytest

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import Columns, documents

TRIED = int(os.environ.get("FUZZ") or 300)  # `make fuzz N=` sets this number of files of each form.

pytestmark = pytest.mark.slow
BLANKS = " \t\n\r\x0b\x0c"
PIECES = [
    *"aB1;,|:'\"[](){}<>\\/#%-_=\0\u00a0\u2028\x85\x1c\ufeff\u00e9\u4e2d\U0001f600",
    *BLANKS,
    "  ",
    "\r\n",
    "\\n",
]
PIECES += [
    "rice",
    "New York",
    "text",
    "labels",
    "http://x/1",
    "https://y/2",
    "urn:isbn:3",
    "<http://z/4>",
    "__label__",
]
PIECES += [
    "0",
    "1",
    "true",
    "nan",
    "null",
    "['a', 'b']",
    '{"a": 1}',
    "0;1;0",
    "sep=;",
    '""',
    "\ud800",
]
COMPRESSED = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def some(rng, most, without=""):
    """Return a random text without the letters in ``without``."""
    joined = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, most)))
    return joined.translate(dict.fromkeys(map(ord, without)))


def rows_of(rng, without_text="", without_name=""):
    """Return random texts with names of labels.

    As in the reader's results, names are stripped, not empty and distinct.
    """
    rows = []
    for _ in range(rng.randint(1, 6)):
        names = [
            some(rng, 3, without_name).strip(BLANKS) for _ in range(rng.choice([0, 1, 1, 2, 5]))
        ]
        rows.append((some(rng, 6, without_text), [*dict.fromkeys(filter(None, names))]))
    return rows


def table(rng, rows, cells, delimiter, end):
    """Return rows as CSV text."""
    order = rng.sample(["id", "text", "labels"], 3)
    file = io.StringIO(newline="")
    writer = csv.writer(
        file, delimiter=delimiter, lineterminator=end, quoting=rng.choice([csv.QUOTE_ALL, 0])
    )
    writer.writerow(order)
    for (text, _), cell in zip(rows, cells):
        row = {"id": "7", "text": text, "labels": cell}
        # The writer of `csv` quotes a carriage return only if line ends contain it.
        if "\r" in text + cell:
            file.write(
                delimiter.join('"' + row[name].replace('"', '""') + '"' for name in order) + end
            )
        else:
            writer.writerow([row[name] for name in order])
    return file.getvalue()


def separated(rng, rows, mark):
    """Return cells with at least one separator each. Blanks may be around the separators."""
    gap = rng.choice(["", " ", "\t"])
    return [f"{gap}{mark}{gap}".join(names) + mark for _, names in rows]


def write_csv(rng, end):
    rows = rows_of(rng, "\0\ud800", ";\0\ud800<")
    return rows, table(rng, rows, separated(rng, rows, ";"), rng.choice(",;\t|"), end), Columns()


def write_given(rng, end):
    mark = rng.choice(["|", "||", ",", "\t", "__", "\u2028"])
    rows = []
    for text, names in rows_of(rng, "\0\ud800", "\0\ud800<"):
        rows.append((text, [n for n in names if not {*mark} & {*n}]))
    delimiter = rng.choice(",;\t#")
    return (
        rows,
        table(rng, rows, [mark.join(names) for _, names in rows], delimiter, end),
        Columns("text", "labels", mark, delimiter),
    )


def write_uris(rng, end):
    rows = []
    cells = []
    mark = rng.choice([" ", "\t", ", "])
    for text, _ in rows_of(rng, "\0\ud800"):
        names = [
            f"{rng.choice(['http://', 'urn:'])}x/{rng.randint(0, 9)}"
            for _ in range(rng.randint(0, 9))
        ]
        rows.append((text, [*dict.fromkeys(names)]))
        cells.append(mark.join(rng.choice(["<{}>", "{}"]).format(name) for name in names))
    return rows, table(rng, rows, cells, ",", end), Columns(separator=mark)


def write_lists(rng, end):
    rows = rows_of(rng, "\0\ud800", "\0\ud800")
    cells = [json.dumps(names, ensure_ascii=rng.random() < 0.5) for _, names in rows]
    return rows, table(rng, rows, cells, ",", end), Columns()


def write_tsv(rng, end):
    rows = rows_of(rng, "\0\ud800\t\n", ";\0\ud800\t\n<")
    # A column named `text` would make line 1 a header.
    rows[0] = rows[0][0].replace("text", "words"), rows[0][1]
    gap = rng.choice(["", " "])
    return (
        rows,
        "".join([f"{text}\t{f';{gap}'.join(names)};{end}" for text, names in rows]),
        Columns(),
    )


def write_jsonl(rng, end):
    rows = rows_of(rng)
    lines = []
    for text, names in rows:
        labels = rng.choice(
            [
                names,
                [f" {name}\t" for name in names] + ["", *names],
                dict.fromkeys(names, 1.0) | {"": 0},
            ]
        )
        lines.append(
            json.dumps({"labels": labels, "text": text, "id": 3}, ensure_ascii=rng.random() < 0.5)
        )
    return rows, "".join(line + end for line in lines), Columns()


def write_array(rng, end):
    rows = rows_of(rng)
    found = [{"text": text, "tags": names or None} for text, names in rows]
    indent = rng.choice([None, 1])
    return (
        rows,
        json.dumps(found, indent=indent).replace("\n", end if indent else "\n"),
        Columns(labels="tags"),
    )


def write_annif(rng, end):
    rows = rows_of(rng)
    uris = {}
    lines = []
    for text, names in rows:
        subjects = []
        for name in names:
            uri = uris.setdefault(name, f"http://x/{rng.randint(0, 99)}")
            subjects.append(
                rng.choice([{"label": name}, {"label": name, "uri": uri}, {"uri": name}])
            )
        lines.append(json.dumps({"text": text, "subjects": subjects}) + end)
    return rows, "".join(lines), Columns()


def write_fasttext(rng, end):
    rows = []
    lines = []
    for text, names in rows_of(rng, "\0\ud800", "\0\ud800" + BLANKS):
        words = [w.decode() for w in text.encode().split() if b"__label__" not in w]
        names = [name for name in names if "__label__" not in name]
        rows.append((" ".join(words), names))
        lines.append(
            rng.choice([" ", "\t", " \r "]).join([*(f"__label__{name}" for name in names), *words])
            + end
        )
    return rows, "".join(lines), Columns()


FORMS = {
    "table.csv": write_csv,
    "given.csv": write_given,
    "uris.csv": write_uris,
    "lists.csv": write_lists,
    "plain.tsv": write_tsv,
    "lines.jsonl": write_jsonl,
    "array.json": write_array,
    "annif.ndjson": write_annif,
    "fasttext.txt": write_fasttext,
}


def damaged(rng, content):
    """Flip, drop or insert a few bytes."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        place = rng.randint(0, max(len(content) - 1, 0))
        if (kind := rng.randint(0, 2)) == 0 and content:
            content[place] ^= 1 << rng.randint(0, 7)
        elif kind == 1:
            del content[place : place + rng.randint(1, 9)]
        else:
            content[place:place] = rng.choice(PIECES).encode(errors="surrogatepass")
    return bytes(content)


def read(path, columns):
    """Return the documents of a file, and the number of calls of Python and C functions."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        return [each[:2] for each in documents(path, columns=columns)], calls
    except XmlcError as error:
        assert str(error).startswith(str(path)), error  # noqa: PT017
        str(error).encode()  # The console can print the message.
        return None, calls
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("name", FORMS)
def test_random_files_are_read_correctly_or_refused(name, tmp_path):
    counts = Counter()
    for number in range(TRIED):
        rng = random.Random(f"{name} {number}")
        rows, text, columns = FORMS[name](rng, rng.choice(["\n", "\n", "\r\n"]))
        encoding = rng.choice(["utf-8"] * 6 + ["utf-8-sig"] * 2 + ["utf-16", "latin-1"])
        # The first character would be read as a byte order mark, unless the encoding writes its own
        # mark.
        if text.startswith("\ufeff"):
            encoding = "utf-8-sig"
        plain = text.encode(
            encoding, errors="surrogatepass" if encoding != "latin-1" else "replace"
        )
        suffix, compress = rng.choice([*COMPRESSED.items()])
        kind = (
            rng.choice(["whole", "whole", "bytes", "compressed"])
            if suffix
            else rng.choice(["whole", "whole", "bytes"])
        )
        content = compress(damaged(rng, plain) if kind == "bytes" else plain)
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(damaged(rng, content) if kind == "compressed" else content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, calls = read(path, columns)
            assert calls < 1000 + 30 * len(text), number
            # The meaning of damaged bytes is not known, but the documents can be written.
            if found is not None and kind == "bytes":
                lines = [
                    json.dumps({"text": text, "labels": names}) + "\n" for text, names in found
                ]
                (tmp_path / "again.jsonl").write_text("".join(lines))
                again = read(tmp_path / "again.jsonl", Columns())[0]
                assert found == again or any(
                    {*names} <= {"0", "1", "true", "false"} for _, names in found
                ), number
            elif found is not None and encoding != "latin-1":
                assert found == rows, number
        outcome = "refused" if found is None else "read"
        counts[
            f"{kind} {encoding if encoding in ('utf-16', 'latin-1') else 'utf-8'} {outcome}"
        ] += 1
    print(name, dict(counts))
    assert counts["whole utf-8 read"] > counts["whole utf-8 refused"]
    assert counts["whole utf-16 read"] == 0
