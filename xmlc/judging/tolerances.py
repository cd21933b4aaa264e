"""By how much a number of ours may differ from a published one: config/tolerances.yaml, checked against its schema.

One law: half a unit of the last printed digit, plus k standard deviations of our own runs with different seeds, because
a number of a paper was made with other seeds. They are measured (`xmlc deviations`), never typed. Two tables of ours
need no tolerance: the same seeds give the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from xmlc.errors import XmlcError
from xmlc.tables.columns import DEVIATION, column

SCHEMA = Path(__file__).parent / "tolerances.schema.yaml"
RUNS = "runs"

# By dataset and model: how many runs, and the deviation of each column.
Measured = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Deviations:
    """Standard deviations of our own runs with different seeds, by dataset, model and column.

    That of a column in percent is in points, that of any other a share of the value.
    """

    measured: Measured = field(default_factory=dict)

    def of(self, name: str, value: float, model: str | None = None, dataset: str | None = None) -> float:
        """Return the standard deviation of a value of one column.

        Where the dataset was not measured, the largest of the model's on any dataset holds; where the model was not
        either, or its method is not random, 0.
        """
        own = self.measured.get(dataset or "", {}).get(model or "")
        several = [own] if own else [models[model] for models in self.measured.values() if model and model in models]
        largest = max((entry.get(name, 0.0) for entry in several), default=0.0)
        return largest if column(name).unit == "%" else largest * abs(value)


@dataclass(frozen=True)
class Tolerances:
    """What differences from a published number are tolerated.

    Attributes
    ----------
    units : float
        Units of the last printed digit within which two values are equal.
    k : float
        Standard deviations that are tolerated beyond.
    deviations : Deviations
        Of runs with different seeds.
    unjudged : dict of str to str
        Columns that are shown without judgement, with the reason.
    """

    units: float = 0.5
    k: float = 0.0
    deviations: Deviations = field(default_factory=Deviations)
    unjudged: Mapping[str, str] = field(default_factory=dict)

    def judged(self, name: str) -> bool:
        """Say whether a column is judged; a deviation over seeds is where its column is. Costs never are."""
        return not column(name).cost and name.removesuffix(DEVIATION) not in self.unjudged

    def beyond_print(self, name: str, value: float, model: str | None = None, dataset: str | None = None) -> float:
        """Return k standard deviations of a value."""
        return self.k * self.deviations.of(name.removesuffix(DEVIATION), value, model, dataset)


def load_tolerances(path: Path) -> Tolerances:
    """Read tolerances.

    Raises
    ------
    XmlcError
        The file cannot be read, breaks its schema, or names a column that is left without judgement twice.
    """
    content = read_checked_tolerances(path)
    unjudged: dict[str, str] = {}
    for entry in content["unjudged"]:
        for name in entry["names"]:
            if name in unjudged:
                raise XmlcError(f"{path}: column {name!r} is named twice; expected one reason for each column")
            unjudged[name] = entry["reason"]
    return Tolerances(
        units=content["printed"]["units"],
        k=content["deviations"]["k"],
        deviations=Deviations(content.get("measured", {})),
        unjudged=unjudged,
    )


def read_checked_tolerances(path: Path) -> dict[str, Any]:
    """Read the file as it stands, checked against its schema.

    Raises
    ------
    XmlcError
        The file cannot be read or breaks its schema.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise XmlcError(f"{path}: the tolerances cannot be read: {error}") from error
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(content))
    if problem is not None:
        raise XmlcError(f"{path}: {problem.json_path}: {problem.message}; {SCHEMA.name} says what is expected")
    return content
