"""Test random files of texts: they are read back unchanged or refused, in a linear number of
steps.
"""

import csv
import io
import json
import os
import random
import sys
import warnings
from collections import Counter

import pytest

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import documents

TRIED = int(os.environ.get("FUZZ") or 300)  # `make fuzz N=` sets this number of files of each form.

pytestmark = pytest.mark.slow
BLANKS = " \t\n\r\x0b\x0c"
PIECES = [
    *"aB1;,|:'\"[](){}<>\\/#%-_=\0\u00a0\u2028\x85\x1c\ufeff\u00e9\u4e2d\U0001f600\ud800",
    *BLANKS,
    *("  ", "\r\n", "\\n", "New York"),
    *"rice text labels http://x/1 https://y/2 urn:isbn:3 <http://z/4> __label__".split(),
    *"""0 1 true nan null ['a','b'] {"a":1} 0;1;0 sep=; "" """.split(),
]


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


def table(rng, rows, labels, delimiter, end):
    """Return rows as CSV text."""
    order = rng.sample(["id", "text", "labels"], 3)
    file = io.StringIO(newline="")
    writer = csv.writer(
        file, delimiter=delimiter, lineterminator=end, quoting=rng.choice([csv.QUOTE_ALL, 0])
    )
    writer.writerow(order)
    for (text, _), cell in zip(rows, labels):
        row = {"id": "7", "text": text, "labels": cell}
        cells = [row[name] for name in order]
        # The writer of `csv` quotes a carriage return only if line ends contain it.
        if "\r" in text + cell:
            quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
            file.write(delimiter.join(quoted) + end)
        else:
            writer.writerow(cells)
    return file.getvalue()


def separated(rng, rows, mark):
    """Return cells with at least one separator each. Blanks may be around the separators."""
    gap = rng.choice(["", " ", "\t"])
    return [f"{gap}{mark}{gap}".join(names) + mark for _, names in rows]


def write_csv(rng, end):
    rows = rows_of(rng, "\0\ud800", ";\0\ud800<")
    return rows, table(rng, rows, separated(rng, rows, ";"), rng.choice(",;\t|"), end)


def write_tsv(rng, end):
    rows = rows_of(rng, "\0\ud800\t\n", ";\0\ud800\t\n<")
    # A column named `text` would make line 1 a header.
    rows[0] = rows[0][0].replace("text", "words"), rows[0][1]
    gap = rng.choice(["", " "])
    return rows, "".join([f"{text}\t{f';{gap}'.join(names)};{end}" for text, names in rows])


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
    return rows, "".join(line + end for line in lines)


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
    return rows, "".join(lines)


FORMS = {
    "table.csv": write_csv,
    "plain.tsv": write_tsv,
    "lines.jsonl": write_jsonl,
    "fasttext.txt": write_fasttext,
}


def damaged(rng, content):
    """Flip, drop or insert a few bytes."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        place = rng.randint(0, max(len(content) - 1, 0))
        kind = rng.randint(0, 2)
        if kind == 0 and content:
            content[place] ^= 1 << rng.randint(0, 7)
        elif kind == 1:
            del content[place : place + rng.randint(1, 9)]
        else:
            content[place:place] = rng.choice(PIECES).encode(errors="surrogatepass")
    return bytes(content)


def read(path):
    """Return the documents of a file, and the number of calls of Python and C functions."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        return [each[:2] for each in documents(path)], calls
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
        rows, text = FORMS[name](rng, rng.choice(["\n", "\n", "\r\n"]))
        encoding = rng.choice(["utf-8"] * 6 + ["utf-8-sig"] * 2 + ["utf-16", "latin-1"])
        # The first character would be read as a byte order mark, unless the encoding writes its own
        # mark.
        if text.startswith("\ufeff"):
            encoding = "utf-8-sig"
        errors = "replace" if encoding == "latin-1" else "surrogatepass"
        content = text.encode(encoding, errors=errors)
        kind = rng.choice(["whole", "whole", "damaged"])
        if kind == "damaged":
            content = damaged(rng, content)
        path = tmp_path / name
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, calls = read(path)
            assert calls < 1000 + 30 * len(text), number
            # The meaning of damaged bytes is not known, but the documents can be written.
            if found is not None and kind == "damaged":
                rows = [{"text": text, "labels": names} for text, names in found]
                copy = tmp_path / "again.jsonl"
                copy.write_text("".join(json.dumps(row) + "\n" for row in rows))
                again, _ = read(copy)
                flags = {"0", "1", "true", "false"}
                assert found == again or any(flags.issuperset(names) for _, names in found), number
            elif found is not None and encoding != "latin-1":
                assert found == rows, number
        if kind == "whole":
            counts[encoding, found is None] += 1
    assert counts["utf-8", False] > counts["utf-8", True]
    assert counts["utf-16", False] == 0
