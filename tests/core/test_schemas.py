"""YAML that people write: what makes a reader choose in silence is refused, in a short sentence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest
from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import converted, nearest, read_yaml


def read(tmp_path, text):
    (tmp_path / "f.yaml").write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return read_yaml(tmp_path / "f.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", "key a .*line 3"),
        ("b: {a: 1, a: 1}", "key a"),
        ("1: a", "key 1"),
        ("? [a, b]\n: 1", "not YAML"),
        ("a: 2020-02-30", "not YAML"),
        (b"a: \xff", "not YAML"),
        ("!!python/object/apply:os.system [id]", "not YAML"),
    ],
    ids=range(7),
)
def test_what_cannot_be_read_is_refused(tmp_path, text, said):
    with pytest.raises(XmlcError, match=f"f.yaml: .*{said}"):
        read(tmp_path, text)


def test_a_missing_file_away_from_the_project_has_the_advice_to_go_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(XmlcError, match=r"^config/demo\.yaml: No such .*; run this in a clone .* or in a study"):
        read_yaml(Path("config/demo.yaml"))
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").touch()
    with pytest.raises(XmlcError, match=r"No such file or directory$"):
        read_yaml(Path("config/demo.yaml"))


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
class Thing:
    name: Word
    size: Annotated[int, Meta(ge=1)] = 1
    parts: list[Word] | dict[Word, Point] | None = None
    ends: tuple[float, float] = (0, 1)
    kind: Literal["small", "large"] | None = None

    def __post_init__(self):
        if self.name == "other":
            raise ValueError("that one is taken")


def test_content_that_fits_becomes_objects():
    content = {"name": "a", "parts": {"b": {"x": 1}}, "ends": [0.5, 0.5]}
    assert converted(content, Thing, "f") == Thing("a", parts={"b": {"x": 1}}, ends=(0.5, 0.5))
    assert converted({"name": "a", "size": "3"}, Thing, "f", strict=False) == Thing("a", 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sise": 1}, "f: unknown key: found 'sise', expected size"),
        ({"name": "A"}, "f: name: found 'A', expected a word"),
        ({"name": "other"}, "f: that one is taken"),
        ({"name": ...}, "f: .*name"),
        ({"size": 0}, "f: size: found 0.* 1"),
        ({"size": "3"}, "f: size: found '3'"),
        ({"parts": ["a", "B"]}, r"f: parts\[1\]: found 'B', expected a word"),
        ({"parts": {"B": {"x": 1}}}, "f: parts: key: found 'B', expected a word"),
        ({"parts": {"b": {"x": 1, "z": 1}}}, "f: parts.b: unknown key: found 'z', expected x or y"),
        ({"parts": {"b": {"x": "1"}}}, "f: parts.b.x: found '1'"),
        ({"parts": "x" * 5000}, f"f: parts: found '{'x' * 58}"),
        ({"ends": [1, "2"]}, r"f: ends\[1\]: found '2'"),
        ({"ends": [1]}, r"f: ends: found \[1\]"),
        ({"kind": "smal"}, "f: kind: found 'smal', expected small"),
        ({"name": "A", "size": 0}, "f: name: found 'A', expected a word\nf: size: found 0"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place_and_not_printed_whole(change, said):
    content = {key: value for key, value in ({"name": "a"} | change).items() if value is not ...}
    with pytest.raises(XmlcError, match=f"^{said}") as error:
        converted(content, Thing, "f")
    assert len(str(error.value)) < 200


def test_the_nearest_names_come_first():
    assert nearest("BIBTEXT", ["bibtex", "yeast", "scene"]) == "bibtex"
    assert nearest("qqq", ["b", "a", "d", "c"]) == "one of a, b, c, d"
