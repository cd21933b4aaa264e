"""The file that says what a table was made of: paths come back, and what is something else is refused."""

import json
from pathlib import Path

import pytest

from xmlc.checksums import stamped
from xmlc.errors import XmlcError
from xmlc.tables.provenance import TableProvenance

MADE = TableProvenance("table2", "plt2016", (Path("a/1.json"), Path("a/0.json")), Path("results/published"))
CONTENT = {
    "schema": 1,
    "table": "table2",
    "paper": "plt2016",
    "records": ["a/1.json", "a/0.json"],
    "published": "results/published",
    "suite": None,
}


def test_what_is_written_is_read_again(tmp_path):
    path = MADE.write(tmp_path / "table2")
    assert path.name == "table2.made-of.json"
    assert path.read_text() == json.dumps(stamped(CONTENT), indent=2) + "\n"
    assert TableProvenance.read(path) == MADE


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"schema": 2}, r"\$\.schema: "),
        ({"records": []}, r"\$\.records: Expected .* length >= 1"),
        ({"records": [1]}, r"\$\.records\[0\]: Expected"),
        ({"suite": 3}, r"\$\.suite: Expected"),
        ({"more": 3}, r"\$: .*unknown field `more`"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, change, found):
    path = tmp_path / "x.made-of.json"
    path.write_text(json.dumps(stamped(CONTENT | change)))
    with pytest.raises(
        XmlcError, match=rf"x\.made-of\.json: {found}.*expected what `xmlc table` of this version writes"
    ):
        TableProvenance.read(path)


def test_each_part_must_be_there(tmp_path):
    path = tmp_path / "x.made-of.json"
    for name in CONTENT:
        path.write_text(json.dumps(stamped({key: value for key, value in CONTENT.items() if key != name})))
        with pytest.raises(XmlcError, match=f"'{name}' is a required property"):
            TableProvenance.read(path)
