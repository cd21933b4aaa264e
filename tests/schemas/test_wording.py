"""What breaks a schema is named, with what was probably meant, and never printed whole."""

import jsonschema
import pytest

from xmlc.schemas.wording import broken, nearest

KEYS = {"type": "object", "additionalProperties": False, "properties": {"mirror": {}, "models": {}, "seeds": {}}}


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({"mirorr": 1}, KEYS, "unknown key 'mirorr', expected mirror"),
        ({"model": 1, "Seed": 2}, KEYS, "unknown key 'model', expected models; unknown key 'Seed', expected seeds"),
        ({"zzz": "x" * 5000}, KEYS, "unknown key 'zzz', expected mirror or models or seeds"),
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
