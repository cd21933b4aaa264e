"""Mutated ARFF with its XML: read as an independent reader reads it, or refused in words; never a crash or a hang."""

from functools import partial
from itertools import chain

import fuzzing
import naive_arff
import naive_formats as naive
import pytest

from xmlc.data import load
from xmlc.errors import XmlcError

IN_CI = 20_000

pytestmark = pytest.mark.slow
XML = b'<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"></label>'
XML += b'<label name="it\'s"/></labels>'
HEADER = b"""% a comment
@relation 'scenes: -C 2'
@attribute Att1 numeric
@ATTRIBUTE "two words" real
@attribute a {0,1}
@attribute kind {red,'sea, green',blue}
@attribute size {3,5}
@attribute "it's" {0, 1}
@data
"""
DENSE = b"1.5,0,1,'sea, green',3,0\n0,-2,0,red,5,1\n% between\n\n0,0,0,'blue',3,0\n"
SPARSE = b"{0 1.5, 2 1,3 'sea, green'}\n{1\t-2,5 1, 4 5}\n{3 blue}\n{ }\n"
INPUTS = [(HEADER + DENSE, XML), (HEADER + SPARSE, XML), (HEADER + DENSE + SPARSE, XML)]
TOKENS = [
    "{",
    "}",
    "{}",
    "{0 1}",
    "0 1",
    "@data",
    "@attribute",
    "numeric",
    "'",
    "\\'",
    '<?xml version="1.0" encoding="',
]
TOKENS += [f'encoding="{name}"' for name in ("utf-16", "no-such", "shift_jis", "cp037", "utf-7", "idna", "rot13", "")]
TOKENS += ["<!DOCTYPE x>", "<!ENTITY", "&amp;", "&x;", "&#0;", "<![CDATA[", "<label/>", "<label name='b'/>", "]]>"]


def read(path, labels):
    return fuzzing.as_lists(*load(path, "arff", labels=labels))


def outcome(action, refusal):
    try:
        return action()
    except refusal:
        return "refused"


@pytest.mark.parametrize("part", ["rows and header", "xml"])
def test_mutated_files_are_read_as_the_naive_reader_reads_them(part):
    accepted = 0
    originals = [(content,) if part == "rows and header" else (XML,) for content, _ in INPUTS]
    with fuzzing.folder_in_memory() as folder, fuzzing.limited_time() as still_alive:
        for (mutated,) in chain(originals, fuzzing.mutations(originals, fuzzing.count(IN_CI) // 2, TOKENS)):
            still_alive()
            content, xml = (mutated, XML) if part == "rows and header" else (INPUTS[2][0], mutated)
            (folder / "a.arff").write_bytes(content)
            (folder / "a.xml").write_bytes(xml)
            found = outcome(lambda: read(folder / "a.arff", folder / "a.xml"), XmlcError)
            names = naive_arff.plain_label_names(xml)
            if names is None:
                continue  # of other XML it is only asked that it is read or refused
            expected = outcome(partial(naive_arff.arff, content, names), naive.Refused)
            assert found == expected, (content, xml)
            accepted += expected != "refused"
    assert accepted > 0.02 * fuzzing.count(IN_CI)
