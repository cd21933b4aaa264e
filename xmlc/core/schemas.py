"""YAML that people write, read with care: it must not crash the reader, last for ever or leave anything out."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from xmlc.core.advice import sentence_of
from xmlc.core.errors import XmlcError

if TYPE_CHECKING:
    from jsonschema import ValidationError


MOST_CHARACTERS, MOST_VALUES, DEEPEST = 1 << 24, 1_000_000, 50
BRACKET, STEPS_IN_A_LINE = re.compile(r"[\[{]|[\]}]"), re.compile(rf"(?:[-?:][ \t]+){{{DEEPEST}}}")
# Safe loaders both, which make plain values and no objects; the one in C, where PyYAML has it, because a dry run reads
# ten such files.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# mypy knows no base class that is chosen when the module is imported.
class _Loader(_SAFE):  # type: ignore[misc]
    """A safe loader that does not take the last of several equal keys in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
            if name in seen:
                raise yaml.MarkedYAMLError(None, None, f"found the key {key.value} a second time", key.start_mark)
            seen.add(name)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(file: Path) -> object:
    """Read a YAML file.

    Raises
    ------
    XmlcError
        It is no YAML in UTF-8; has a key twice, or one that is no text; is nested deeper than anything that is checked
        here; or has so many values, by its aliases, that to show or check them would not end.
    """
    try:
        text = file.read_text(encoding="utf-8")
        if len(text) > MOST_CHARACTERS or _is_deep(text):
            raise XmlcError(f"{file}: larger, or nested deeper, than any configuration is; is it the right file?")
        # Safe: `_Loader` is a safe loader. `yaml.safe_load` takes none, and of equal keys the last without a word.
        content = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # UnicodeDecodeError, and the date of 30 February
        said = " ".join(str(error).split()).replace(' in "<unicode string>",', " at")
        raise XmlcError(f"{file}: not YAML ({said})") from error
    except OSError as error:
        raise XmlcError(sentence_of(error) or f"{file}: {error}") from error
    try:
        _size(content, {})
    except ValueError as error:
        raise XmlcError(f"{file}: {error}") from None
    return content


def _is_deep(text: str) -> bool:
    """Tell whether a text may be nested so deeply that the parser in C, which looks at no limit, would crash."""
    depth = 0
    for bracket in BRACKET.findall(text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        if depth > DEEPEST:
            return True
    return STEPS_IN_A_LINE.search(text) is not None


def _size(value: object, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return number of values and depth of a value; a value with several names is counted each time."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known:
        known[id(value)] = MOST_VALUES, DEEPEST  # of what contains itself
        if isinstance(value, dict) and (odd := [key for key in value if not isinstance(key, str)]):
            raise ValueError(f"the key {shown(odd[0])} is no text; write it in quotes")
        inner = [_size(item, known) for item in (value.values() if isinstance(value, dict) else value)]
        size, depth = 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)
        if size > MOST_VALUES or depth > DEEPEST:
            raise ValueError(f"more than {MOST_VALUES} values, or nested deeper than {DEEPEST}, with all its aliases")
        known[id(value)] = size, depth
    return known[id(value)]


SHOWN = 60  # characters of a value


def broken(problem: ValidationError) -> str:
    """Say in a sentence how a value breaks a schema; the place is left to the caller.

    Parameters
    ----------
    problem : jsonschema.ValidationError

    Returns
    -------
    str
        With the ``description`` of what is expected, if the schema has one. Values are shown in part, keys by name.
    """
    schema = problem.schema if isinstance(problem.schema, dict) else {}
    if problem.validator == "additionalProperties" and isinstance(problem.instance, dict):
        return _unknown_keys(problem.instance, schema)
    expected = schema.get("description")
    found = shown(problem.instance)
    if problem.validator == "minItems":
        said = f"{found} names nothing"
    elif problem.validator == "pattern":
        said = f"found {found}" if expected else f"{found} does not match {problem.validator_value}"
    else:
        said = problem.message.replace(repr(problem.instance), found)
    return said + (f"; expected {expected}" if expected else "")


def shown(value: object) -> str:
    """Return a value as Python writes it, or its beginning."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def nearest(name: str, names: Collection[str]) -> str:
    """Name the nearest of some names, or all of them."""
    near = get_close_matches(name.lower(), names, n=3) or sorted(names)
    return " or ".join(near) if len(near) <= 3 else f"one of {', '.join(near)}"


def _unknown_keys(found: dict[object, object], schema: dict[str, object]) -> str:
    known = schema.get("properties", {})
    names = [str(name) for name in known] if isinstance(known, dict) else []
    unknown = [str(key) for key in found if key not in names]
    said = "; ".join(_unknown(key, names) for key in unknown[:3])
    return f"{said}; and {len(unknown) - 3} more" if len(unknown) > 3 else said


def _unknown(key: str, names: list[str]) -> str:
    return f"unknown key {shown(key)}, expected {nearest(key, names)}"
