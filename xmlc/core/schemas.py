"""YAML that people write: nothing of it is left out or read as something else, and mistakes are said in a sentence."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from xmlc.core.advice import sentence_of
from xmlc.core.errors import XmlcError

if TYPE_CHECKING:
    from jsonschema import ValidationError


# Safe loaders both, which make plain values and no objects; the one in C, where PyYAML has it, because a dry run reads
# ten such files.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# mypy knows no base class that is chosen when the module is imported.
class _Loader(_SAFE):  # type: ignore[misc]
    """A safe loader that does not take the last of several equal keys in silence, nor a number as a key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
            if name in seen:
                raise yaml.MarkedYAMLError(None, None, f"found the key {key.value} a second time", key.start_mark)
            seen.add(name)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        if odd := [key for key in mapping if not isinstance(key, str)]:
            said = f"the key {shown(odd[0])} is no text; write it in quotes"
            raise yaml.MarkedYAMLError(None, None, said, node.start_mark)
        return mapping


def read_yaml(file: Path) -> object:
    """Read a YAML file.

    Raises
    ------
    XmlcError
        It is no YAML in UTF-8, or has a key twice, or one that is no text.
    """
    try:
        # Safe: `_Loader` is a safe loader. `yaml.safe_load` takes none, and of equal keys the last without a word.
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:  # UnicodeDecodeError, and the date of 30 February
        said = " ".join(str(error).split()).replace(' in "<unicode string>",', " at")
        raise XmlcError(f"{file}: not YAML ({said})") from error
    except OSError as error:
        is_elsewhere = isinstance(error, FileNotFoundError) and not Path("config/config.yaml").exists()
        advice = "; run this in a clone of the project" if is_elsewhere else ""
        raise XmlcError((sentence_of(error) or f"{file}: {error}") + advice) from error


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
    said = "; ".join(f"unknown key {shown(key)}, expected {nearest(key, names)}" for key in unknown[:3])
    return f"{said}; and {len(unknown) - 3} more" if len(unknown) > 3 else said
