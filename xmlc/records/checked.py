"""JSON files that tables are made from, read and checked against a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from xmlc.errors import XmlcError


def read_checked(path: Path, schema: dict[str, Any], expected: str) -> dict[str, Any]:
    """Read one file that fits a schema; ``expected`` says in a message what it should be.

    Raises
    ------
    XmlcError
        The file is not readable, or does not fit.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise XmlcError(f"{path}: not a readable JSON file ({error}); make it again") from error
    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(content))
    if problem is not None:
        found = f"{path}: {problem.json_path}: {problem.message}"
        raise XmlcError(f"{found}; expected {expected}: delete it and make it again")
    return content
