"""What a file that breaks its schema is told: what was found, and what is expected there."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema import ValidationError

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
    """Name what somebody may have meant, or all that there is."""
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
