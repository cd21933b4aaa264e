"""Test that ambiguous or invalid YAML is refused in a short sentence."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest
from facts import raises_with
from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.suite.schemas import converted, parsed_yaml, read_yaml

#: Texts around the rules of YAML 1.1.
YAML_1_1 = (
    "0 00 0.5 1.5 -1.5 +3 1.0e-3 1.0e+3 1.0E+3 1.0e3 1e+3 1E3 0b11 -0b1 0_1 1_0 1_0.0".split()
)
YAML_1_1 += "0x_f 0xF 0o7 0O7 08 09 1_0e3 1.5_0e+3 ._1 1._5".split()
YAML_1_1 += (
    "1:1 -1:1 01:10 1:60 1:30:00 1:30:00.5 yes Yes YES no No on OFF true TRUE False null Null "
    "NULL ~"
).split()
YAML_1_1 += (
    ".inf -.INF +.inf .NAN .nan 2001-12-14 2001-1-1 2001-12-14t21:59:43.10-05:00 = <<".split()
)


def read(tmp_path, text):
    (tmp_path / "f.yaml").write_bytes(
        text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    )
    return read_yaml(tmp_path / "f.yaml")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3", 3, "a"),
        ("b: {a: 1, a: 1}", 1, "a"),
        ("b: 1\n1: a", 2, ["'1'", "quotes"]),
        ("no: a", 1, ["'no'", "quotes"]),
        ("? [a, b]\n: 1", 1, "key"),
        ("a: [x]\nb:\n\tc: 1", 3, "tab"),
        ("a: b: c", 1, "quotes"),
        ("a: @x", 1, "quotes"),
        ("a: [1", None, "bracket"),
        ("a: 1\n---\nb: 1", 2, "document"),
        (b"a: \xff", None, "UTF-8"),
        ("!!python/object/apply:os.system [id]", 1, "YAML"),
    ],
    ids=range(12),
)
def test_unreadable_yaml_is_refused(tmp_path, text, line, said):
    with raises_with(XmlcError, f"f.yaml:{line}" if line else "f.yaml", said):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("scalar", "instead"),
    [
        ("010", "leading zero"),
        ("08", "leading zero"),
        ("007", "leading zero"),
        ("-010", "leading zero"),
        ("0x10", "leading zero"),
        ("0o17", "leading zero"),
        ("0b1", "leading zero"),
        ("1_2", "underscores"),
        ("1_2.5", "underscores"),
        ("1:30", "colons"),
        ("1:30.5", "colons"),
        ("1e-3", "1.0e-3"),
        ("-1.5E3", "1.0e-3"),
        ("1e5", "1.0e-3"),
        (".5e3", "1.0e-3"),
        ("yes", "true or false"),
        ("Off", "true or false"),
        ("~", "null"),
        (".inf", "finite"),
        ("-.Inf", "finite"),
        (".NaN", "finite"),
        ("2020-01-01", "quotes"),
        ("2020-1-1T1:00:00", "quotes"),
        ("=", "quotes"),
        ("<<", "quotes"),
        ("!!str 010", "leading zero"),
    ],
)
def test_ambiguous_scalar_is_refused_with_its_spelling(tmp_path, scalar, instead):
    text = scalar.removeprefix("!!str ")
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
    written = (
        "[1, -3, +3, 0, 1.5, .5, 1., 1.0e-3, true, False, null, , 1.0.0, 3-4, y, 1:a, no way, "
        "__x__, 'yes']"
    )
    read_as = [
        1,
        -3,
        3,
        0,
        1.5,
        0.5,
        1.0,
        0.001,
        True,
        False,
        None,
        "1.0.0",
        "3-4",
        "y",
        {"1": "a"},
    ]
    assert read(tmp_path, written.replace(", ,", ",").replace("1:a", "'1': a")) == [
        *read_as,
        "no way",
        "__x__",
        "yes",
    ]


def test_missing_file_outside_a_project_is_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with raises_with(XmlcError, "config/demo.yaml") as away:
        read_yaml(Path("config/demo.yaml"))
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").touch()
    with raises_with(XmlcError, "config/demo.yaml") as here:
        read_yaml(Path("config/demo.yaml"))
    assert str(away.value).startswith(str(here.value))
    assert str(away.value) != str(here.value)


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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sise": 1}, ["f: ", "'sise'", "size", "4 more"]),
        ({"name": "A"}, "f: name: found 'A'"),
        ({"name": "other"}, "f: that one is taken"),
        ({"name": ...}, ["f: ", "name"]),
        ({"name": 12}, "f: name: found 12"),
        ({"parts": "a"}, ["f: parts: found 'a'", "[a]"]),
        ({"size": 0}, ["f: size: found 0", "1"]),
        ({"size": None}, "f: size: found null"),
        ({"size": "3"}, ["f: size: found '3'", "whole number"]),
        ({"parts": {"b": {"y": 1}}}, ["f: parts.b", "x"]),
        ({"parts": ["a", "B"]}, "f: parts[1]: found 'B'"),
        ({"parts": {"B": {"x": 1}}}, ["f: parts", "'B'"]),
        ({"parts": {"b": {"x": 1, "z": 1}}}, ["f: parts.b", "'z'", "x or y"]),
        ({"parts": {"b": {"x": "1"}}}, "f: parts.b.x: found '1'"),
        ({"parts": "x" * 5000}, ["f: parts: found", "..."]),
        ({"ends": [1, "2"]}, "f: ends[1]: found '2'"),
        ({"ends": [1]}, "f: ends: found [1]"),
        ({"kind": "smal"}, ["f: kind: found 'smal'", "small"]),
        ({"name": "A", "size": 0}, ["f: name: found 'A'", "f: size: found 0"]),
    ],
)
def test_invalid_content_is_refused_briefly_with_its_place(change, said):
    content = {key: value for key, value in ({"name": "a"} | change).items() if value is not ...}
    with raises_with(XmlcError, said) as error:
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
