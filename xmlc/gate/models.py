"""The gate for folders of models: the description and the arrays that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from xmlc.errors import XmlcError
from xmlc.gate.fields import Malformed
from xmlc.gate.matrices import MOST_COLUMNS
from xmlc.gate.stored import load_array, load_description

DESCRIPTION = "model.json"
ENTRIES = {"hyperparameters": dict, "n_features": int, "n_labels": int, "arrays": list, "meta": dict}


@contextmanager
def naming_files(folder: Path) -> Iterator[None]:
    """Turn the fault of an array into an error that names its file, and the command that makes it again."""
    try:
        yield
    except Malformed as fault:
        name = fault.field if Path(fault.field).suffix in (".npy", ".json") else f"{fault.field}.npy"
        file = name if Path(name).is_relative_to(folder) else folder / name
        raise XmlcError(f"{file}: {fault.fault}; delete {folder} and train the model again (xmlc train)") from None


def load_model(
    folder: Path, estimator: str, version: int, hyperparameters: Sequence[str]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the description of a model and its arrays, memory-mapped, and prove that they are an estimator's.

    Parameters
    ----------
    folder : Path
    estimator : str
        Name of its class.
    version : int
        Of its format.
    hyperparameters : sequence of str
        Names of all its hyperparameters.

    Raises
    ------
    Malformed
        A file is missing or no array, or the description does not describe a model.
    XmlcError
        It is a model of another estimator or format.
    """
    file = folder / DESCRIPTION
    content = load_description(file, {"estimator": str, "format": int})
    found = (content["estimator"], content["format"])
    if found != (estimator, version):
        raise XmlcError(
            f"{folder}: found a model of {found[0]}, format {found[1]}; "
            f"expected {estimator}, format {version}; train it anew"
        )
    content = load_description(file, ENTRIES)
    if sorted(content["hyperparameters"]) != sorted(hyperparameters):
        listed = ", ".join(sorted(hyperparameters))
        raise Malformed(DESCRIPTION, f"hyperparameters are {sorted(content['hyperparameters'])}, expected {listed}")
    for name in ("n_features", "n_labels"):
        if not 0 <= content[name] <= MOST_COLUMNS:
            raise Malformed(DESCRIPTION, f"{name} is {content[name]}, expected 0 .. {MOST_COLUMNS}")
    names = content["arrays"]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise Malformed(DESCRIPTION, f"arrays are {names}, expected names")
    return content, {name: load_array(folder / f"{name}.npy") for name in names}
