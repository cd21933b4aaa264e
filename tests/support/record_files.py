"""Check that records are written as they were read, and that a wrong file is refused with the place
of the error.
"""

import json
from copy import deepcopy
from pathlib import Path

from facts import raises_with

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import kinds


def save(folder, content, name="x.json"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(
        json.dumps(stamped(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return path


def as_record(content):
    """Return the record of a file with this content."""
    return kinds()[content["kind"]].of(Path("x.json"), json.loads(json.dumps(content)))


def check_round_trip(folder, kind, content):
    """Return the record of some content.

    Check that every byte stays the same if the record is read and written again.
    """
    path = save(folder, content)
    record = kind.read(path)
    record.write(folder / "again.json")
    assert kind.read(folder / "again.json") == record
    assert (folder / "again.json").read_bytes() == path.read_bytes()
    return record


def changed(content, keys, value):
    """Return a copy of some content with another value at a place.

    A value of ``...`` removes the key.
    """
    content = deepcopy(content)
    part = content
    for key in keys[:-1]:
        part = part[key]
    if value is ...:
        del part[keys[-1]]
    else:
        part[keys[-1]] = value
    return content


class RecordFile:
    """Test the file of one kind of record.

    A subclass defines the kind, its content and changes that break it.

    ``broken`` has the keys of a place and a value for each change. A value of ``...`` removes the
    key.
    """

    kind = None
    content = None
    broken = ()

    def pytest_generate_tests(self, metafunc):
        if "keys" in metafunc.fixturenames:
            metafunc.parametrize(("keys", "value"), self.broken)

    def test_what_is_read_is_written_again(self, tmp_path):
        check_round_trip(tmp_path, self.kind, self.content)

    def test_what_does_not_fit_is_named_with_its_place(self, tmp_path, keys, value):
        path = save(tmp_path, changed(self.content, keys, value), "broken.json")
        with raises_with(XmlcError, "broken.json") as error:
            self.kind.read(path)
        assert any(key in str(error.value) for key in keys if isinstance(key, str))
