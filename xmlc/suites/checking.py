"""YAML that is checked against a schema of this folder, and converted to an object."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TypeVar

import jsonschema
import msgspec
import yaml

from xmlc.errors import XmlcError

T = TypeVar("T")
FOLDER = Path(__file__).parent


def read_yaml(file: Path) -> object:
    """Read a YAML file.

    Raises
    ------
    XmlcError
        It cannot be read.
    """
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise XmlcError(f"{file}: not a readable configuration of a paper ({error})") from error


# Safe loaders both, which make plain values and no objects: what `yaml.safe_load` uses, in C where PyYAML has that,
# because a dry run reads ten such files.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    expected = problem.schema.get("description") if isinstance(problem.schema, dict) else None
    said = f"{source}: {problem.json_path}: {problem.message}"
    raise XmlcError(said + (f"; expected {expected}" if expected else f"; {schema} says what is expected"))


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
