"""YAML that people write: what makes a reader choose in silence is refused, in a short sentence."""

from pathlib import Path

import jsonschema
import pytest

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import broken, nearest, read_yaml


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
    with pytest.raises(XmlcError, match=r"^config/demo\.yaml: No such .*; run this in a clone of the project$"):
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


KEYS = {"type": "object", "additionalProperties": False, "properties": {"mirror": {}, "models": {}, "seeds": {}}}


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({"mirorr": 1}, KEYS, "unknown key 'mirorr', expected mirror"),
        ({"model": 1, "Seed": 2}, KEYS, "unknown key 'model', expected models; unknown key 'Seed', expected seeds"),
        ({f"k{number}": 1 for number in range(5)}, KEYS, "; and 2 more"),
        (["x" * 5000], {"type": "object"}, f"['{'x' * 58}... is not of type 'object'"),
        ("../x", {"pattern": "^[a-z]+$", "description": "a name"}, "found '../x'; expected a name"),
        ("../x", {"pattern": "^[a-z]+$"}, "'../x' does not match ^[a-z]+$"),
        ([], {"minItems": 1, "description": "some seeds"}, "[] names nothing; expected some seeds"),
    ],
)
def test_what_breaks_a_schema_is_named_and_not_printed_whole(value, schema, said):
    (problem,) = jsonschema.Draft202012Validator(schema).iter_errors(value)
    assert said in broken(problem)
    assert len(broken(problem)) < 200


def test_the_nearest_names_come_first():
    assert nearest("BIBTEXT", ["bibtex", "yeast", "scene"]) == "bibtex"
    assert nearest("qqq", ["b", "a", "d", "c"]) == "one of a, b, c, d"
