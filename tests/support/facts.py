"""Check the facts in a message, such as a value, path, line number or name, but not its wording."""

import re
from contextlib import contextmanager

import pytest


def absent(text, *facts):
    """Return the facts that the text lacks.

    A fact is found only as whole words: "row 1" is not in "row 12". A list is several facts.
    """
    each = []
    for one in facts:
        each += one if isinstance(one, list) else [one]
    return [fact for fact in map(str, each) if not re.search(_whole(fact), text)]


@contextmanager
def raises_with(kind, *facts):
    """Expect an error of this type whose message contains all facts, in any order."""
    with pytest.raises(kind) as raised:
        yield raised
    message = str(raised.value)
    assert absent(message, *facts) == [], message


@contextmanager
def warns_with(kind, *facts):
    """Expect a warning of this type whose message contains all facts."""
    with pytest.warns(kind) as warned:
        yield warned
    messages = [str(one.message) for one in warned]
    assert any(absent(message, *facts) == [] for message in messages), messages


def _whole(fact):
    before = r"(?<!\w)" if re.match(r"\w", fact) else ""
    after = r"(?!\w)" if re.search(r"\w$", fact) else ""
    return before + re.escape(fact) + after


def contents(folder):
    """Return the bytes of each file below a folder, by the file's path in the folder."""
    return {
        file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }
