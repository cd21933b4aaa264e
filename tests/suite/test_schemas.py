"""Test that ambiguous or invalid YAML is refused in a short sentence."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest
import yaml
from facts import raises_with
from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.suite.schemas import converted, parsed_yaml, read_yaml

#: Texts around the rules of YAML 1.1.
YAML_1_1 = """
0 00 0.5 1.5 -1.5 +3 1.0e-3 1.0e+3 1.0E+3 1.0e3 1e+3 1E3 0b11 -0b1 0_1 1_0 1_0.0
0x_f 0xF 0o7 0O7 08 09 1_0e3 1.5_0e+3 ._1 1._5 1:1 -1:1 01:10 1:60 1:30:00 1:30:00.5
yes Yes YES no No on OFF true TRUE False null Null NULL ~ .inf -.INF +.inf .NAN .nan
2001-12-14 2001-1-1 2001-12-14t21:59:43.10-05:00 = <<
""".split()


def read(tmp_path, text):
    (tmp_path / "f.yaml").write_bytes(
        text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    )
    return read_yaml(tmp_path / "f.yaml")


# Maps a text to its line and facts of the message.
UNREADABLE = {
    "a: 1\nb: 2\na: 3": ":3 a",
    "b: {a: 1, a: 1}": ":1 a",
    "b: 1\n1: a": ":2 '1' quotes",
    "no: a": ":1 'no' quotes",
    "? [a, b]\n: 1": ":1 key",
    "a: [x]\nb:\n\tc: 1": ":3 tab",
    "a: b: c": ":1 quotes",
    "a: @x": ":1 quotes",
    "a: [1": " bracket",
    "a: 1\n---\nb: 1": ":2 document",
    b"a: \xff": " UTF-8",
    "!!python/object/apply:os.system [id]": ":1 YAML",
}


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable_yaml_is_refused(tmp_path, text):
    line, *facts = UNREADABLE[text].split(" ")
    with raises_with(XmlcError, f"f.yaml{line}", facts):
        read(tmp_path, text)


# Maps advice to scalars.
AMBIGUOUS = {
    "leading zero": "010 08 007 -010 0x10 0o17 0b1 !!str_010",
    "underscores": "1_2 1_2.5",
    "colons": "1:30 1:30.5",
    "1.0e-3": "1e-3 -1.5E3 1e5 .5e3",
    "true or false": "yes Off",
    "null": "~",
    "finite": ".inf -.Inf .NaN",
    "quotes": "2020-01-01 2020-1-1T1:00:00 = <<",
}


@pytest.mark.parametrize("instead", AMBIGUOUS)
def test_ambiguous_scalar_is_refused_with_its_spelling(tmp_path, instead):
    for scalar in AMBIGUOUS[instead].split():
        text = scalar.removeprefix("!!str_")
        scalar = scalar.replace("str_", "str ")
        with raises_with(XmlcError, f"f.yaml:2: found {text}", f"'{text}'", instead):
            read(tmp_path, f"a:\n- [{scalar}]")
        with raises_with(XmlcError, f"config: a={scalar}: found {text}"):
            parsed_yaml(scalar, "a=")
        assert read(tmp_path, f"a: '{text}'") == {"a": text}


@pytest.mark.parametrize("text", [*map(str, range(-11, 12)), *YAML_1_1])
def test_every_scalar_that_yaml_reads_as_no_text_is_plain_or_refused(tmp_path, text):
    """A number, a truth value or null that is not refused has the same value in JSON."""
    try:
        value = read(tmp_path, f"a: {text}")["a"]
    except XmlcError:
        return
    if not isinstance(value, str):
        assert value == json.loads(text.lower().removeprefix("+"))


def test_unambiguous_scalars_are_read(tmp_path):
    numbers = read(tmp_path, "[1, -3, +3, 0, 1.5, .5, 1., 1.0e-3]")
    assert numbers == [1, -3, 3, 0, 1.5, 0.5, 1, 0.001]
    assert read(tmp_path, "[true, False, null, '1': a]") == [True, False, None, {"1": "a"}]
    texts = "1.0.0 3-4 y no-way __x__ 1:a".split()
    assert read(tmp_path, f"[{', '.join(texts)}, no way, 'yes']") == [*texts, "no way", "yes"]


def test_missing_file_outside_a_project_is_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = Path("config/demo.yaml")
    with raises_with(XmlcError, file) as away:
        read_yaml(file)
    file.parent.mkdir()
    file.with_name("config.yaml").touch()
    with raises_with(XmlcError, file) as here:
        read_yaml(file)
    assert len(str(away.value)) > len(str(here.value))


def test_aliases_merges_and_other_alphabets_are_read(tmp_path):
    assert read(tmp_path, "a: &a {x: 1}\nb: {<<: *a, y: 'ü数'}\nc: [*a, *a]") == {
        "a": {"x": 1},
        "b": {"x": 1, "y": "ü数"},
        "c": [{"x": 1}, {"x": 1}],
    }
    assert read(tmp_path, "\ufeffa: 1") == {"a": 1}
    assert read(tmp_path, "") is None


Word = Annotated[str, Meta(pattern="^[a-z]+$", description="a word")]


class Point(TypedDict):
    x: float
    y: NotRequired[float]


@dataclass
class Named:
    name: str


@dataclass
class Thing:
    name: Word
    size: Annotated[int, Meta(ge=1)] = 1
    parts: list[Word] | dict[Word, Point] | None = None
    ends: tuple[float, float] = (0, 1)
    kind: Literal["small", "large"] | None = None

    def __post_init__(self):
        if self.name == "other":
            raise ValueError("that one is taken")


def test_valid_content_is_converted_to_objects():
    content = {"name": "a", "parts": {"b": {"x": 1}}, "ends": [0.5, 0.5]}
    assert converted(content, Thing, "f") == Thing("a", parts={"b": {"x": 1}}, ends=(0.5, 0.5))
    assert converted({"name": "a", "size": "3"}, Thing, "f", strict=False) == Thing("a", 3)


# Changes of valid content, each with facts of the message. ABSENT stands for a missing key.
INVALID = """
- [{sise: 1}, "f: ", "'sise'", size, 4 more]
- [{name: A}, "f: name: found 'A'"]
- [{name: other}, "f: that one is taken"]
- [{name: ABSENT}, "f: ", name]
- [{name: 12}, "f: name: found 12"]
- [{parts: a}, "f: parts: found 'a'", "[a]"]
- [{size: 0}, "f: size: found 0", "1"]
- [{size: null}, "f: size: found null"]
- [{size: '3'}, "f: size: found '3'", whole number]
- [{parts: {b: {y: 1}}}, "f: parts.b", x]
- [{parts: [a, B]}, "f: parts[1]: found 'B'"]
- [{parts: {B: {x: 1}}}, "f: parts", "'B'"]
- [{parts: {b: {x: 1, z: 1}}}, "f: parts.b", "'z'", x or y]
- [{parts: {b: {x: '1'}}}, "f: parts.b.x: found '1'"]
- [{parts: LONG}, "f: parts: found", ...]
- [{ends: [1, '2']}, "f: ends[1]: found '2'"]
- [{ends: [1]}, "f: ends: found [1]"]
- [{kind: smal}, "f: kind: found 'smal'", small]
- [{name: A, size: 0}, "f: name: found 'A'", "f: size: found 0"]
""".replace("LONG", "x" * 5000)


@pytest.mark.parametrize("case", yaml.safe_load(INVALID))
def test_invalid_content_is_refused_briefly_with_its_place(case):
    change, *facts = case
    content = {"name": "a"} | change
    if content["name"] == "ABSENT":
        del content["name"]
    with raises_with(XmlcError, facts) as error:
        converted(content, Thing, "f")
    assert len(str(error.value)) < 200


def test_invalid_content_of_a_file_is_refused_with_its_line(tmp_path):
    content = read(tmp_path, "name: a\nparts:\n  b: {x: 1}\n  c:\n    z: 1\nends: [1,\n  x]\n")
    with pytest.raises(XmlcError) as error:
        converted(content, Thing, str(tmp_path / "f.yaml"))
    assert re.findall(r"f[.]yaml:(\d+): ([^:]*)", str(error.value)) == [
        ("5", "parts.c.z"),
        ("7", "ends[1]"),
    ]


def test_number_instead_of_text_is_refused():
    with raises_with(XmlcError, "123", "text"):
        converted({"name": 123}, Named, "f")
