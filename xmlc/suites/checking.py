"""YAML that is checked against a schema of this folder, and converted to an object."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TypeVar

import jsonschema
import msgspec

from xmlc.errors import XmlcError
from xmlc.schemas.reading import broken, read_yaml

T = TypeVar("T")
FOLDER = Path(__file__).parent


def check(content: object, schema: str, source: str) -> None:
    """Check content against ``schema``, a file of this folder.

    Raises
    ------
    XmlcError
        It breaks the schema; the message names ``source``, the place and what is expected there.
    """
    problem = jsonschema.exceptions.best_match(_validator(schema).iter_errors(content))
    if problem is None:
        return
    raise XmlcError(f"{source}: {problem.json_path}: {broken(problem)}")


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    content = read_yaml(FOLDER / schema)
    assert isinstance(content, dict)
    return jsonschema.Draft202012Validator(content)


def converted(content: object, kind: type[T], source: str, strict: bool = True) -> T:
    """Convert checked content to a dataclass.

    Raises
    ------
    XmlcError
        A value is of another type.
    """
    try:
        return msgspec.convert(content, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise XmlcError(f"{source}: {error}") from error
