"""By how much two tables may differ: config/tolerances.yaml, checked against its schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import jsonschema
import yaml

from xmlc.errors import XmlcError
from xmlc.reports.columns import DEVIATION

SCHEMA = Path(__file__).parents[2] / "workflow" / "schemas" / "tolerances.schema.yaml"


@dataclass(frozen=True)
class Tolerance:
    """The bounds of one column: the larger of the absolute one and of the share of the left value holds."""

    absolute: float = 0.0
    relative: float = 0.0
    judged: bool = True
    reason: str = ""

    def allowed(self, left: float) -> float:
        """Return the largest difference from ``left`` that is tolerated."""
        return max(self.absolute, self.relative * abs(left))


@dataclass(frozen=True)
class Tolerances:
    """All bounds.

    Attributes
    ----------
    units : float
        Units of the last printed digit within which two values are equal.
    columns : dict of (str or None, str) to Tolerance
        By model and column; None stands for every model that has no bounds of its own.
    exact : bool
        No bound holds and every column but the costs is judged: equal is equal to the last bit.
    """

    units: float = 0.5
    columns: dict[tuple[str | None, str], Tolerance] = field(default_factory=dict)
    exact: bool = False

    def of(self, name: str, model: str | None = None) -> Tolerance:
        """Return the bounds of one column for one model; a deviation over seeds has those of its column."""
        if self.exact:
            return Tolerance()
        column = name.removesuffix(DEVIATION)
        return self.columns.get((model, column)) or self.columns.get((None, column), Tolerance())


EXACT = Tolerances(units=0.0, exact=True)


def load_tolerances(path: Path) -> Tolerances:
    """Read tolerances.

    Raises
    ------
    XmlcError
        The file cannot be read, breaks its schema, or names a column twice.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise XmlcError(f"{path}: the tolerances cannot be read: {error}") from error
    if not SCHEMA.is_file():
        raise XmlcError(f"{SCHEMA}: the schema of tolerances is missing; run xmlc from a checkout of the project")
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(content))
    if error is not None:
        raise XmlcError(f"{path}: {error.json_path}: {error.message}; {SCHEMA.name} says what is expected")
    columns: dict[tuple[str | None, str], Tolerance] = {}
    for entry in content["columns"]:
        bounds = Tolerance(**{key: value for key, value in entry.items() if key not in ("names", "models")})
        for name, model in product(entry["names"], entry.get("models", [None])):
            if (model, name) in columns:
                raise XmlcError(f"{path}: column {name!r} is named twice; expected one tolerance for each column")
            columns[model, name] = bounds
    return Tolerances(units=content["printed"]["units"], columns=columns)
