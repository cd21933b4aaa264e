"""What every kind of record must keep: a file that is read and written again is the same, a broken one is named."""

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest

from xmlc.errors import XmlcError
from xmlc.records.reading import kinds


def save(folder, content, name="x.json"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def as_record(content):
    """Return the record that a file of this content would be."""
    return kinds()[content["kind"]].of(Path("x.json"), json.loads(json.dumps(content)))


def check_round_trip(folder, kind, content):
    """Read, write and read again: an equal record, and the same bytes, hence the same keys in the same order."""
    path = save(folder, content)
    record = kind.read(path)
    record.write(folder / "again.json")
    assert kind.read(folder / "again.json") == record
    assert (folder / "again.json").read_bytes() == path.read_bytes()
    return record


def changed(content, keys, value):
    """Return a copy with another value at a place; ``...`` takes the key away."""
    content = deepcopy(content)
    part = content
    for key in keys[:-1]:
        part = part[key]
    if value is ...:
        del part[keys[-1]]
    else:
        part[keys[-1]] = value
    return content


def check_refused(folder, kind, content, keys, value, place, found):
    """A changed file is refused with its name, the place in it, what is there and what to do."""
    path = save(folder, changed(content, keys, value), "broken.json")
    with pytest.raises(XmlcError, match=f"broken.json: {re.escape(place)}: .*{found}.*make it again"):
        kind.read(path)


def check_nan_refused(folder, kind, content, keys):
    """JSON has no NaN, and neither has a record."""
    path = save(folder, changed(content, keys, float("nan")), "broken.json")
    with pytest.raises(XmlcError, match=r"broken\.json: .*NaN"):
        kind.read(path)
