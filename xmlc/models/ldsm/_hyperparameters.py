"""What the hyperparameters of LdSM may be, and in which form kernels take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xmlc.errors import XmlcError
from xmlc.models.ldsm._regressors import Settings

MOST_DIRECTIONS = 8  # 2**8 sets of directions for each instance
MOST_DENSE_VALUES = 1 << 30  # of a node's standardised instances, 8 bytes each
SMALLEST = {"n_trees": 1, "max_nodes": 1, "epochs": 1, "arity": 2}
CHOICES = {
    "optimizer": ("nag", "sgd"),
    "ties": ("random", "first"),
    "initial_weights": ("zero", "uniform"),
    "shares": ("labels", "instances"),
}


def check_hyperparameters(values: Mapping[str, Any]) -> None:
    """Raise `XmlcError` if a hyperparameter is out of its range."""
    for name, least in SMALLEST.items():
        if values[name] < least:
            raise XmlcError(f"{name}={values[name]}: expected at least {least}")
    if values["arity"] > MOST_DIRECTIONS:
        raise XmlcError(f"arity={values['arity']}: expected at most {MOST_DIRECTIONS}")
    for name in ("learning_rate", "lambda_1", "lambda_2", "gamma"):
        if not (np.isfinite(values[name]) and values[name] >= 0):
            raise XmlcError(f"{name}={values[name]}: expected a finite number, not negative")
    if values["learning_rate"] == 0:
        raise XmlcError("learning_rate=0: nothing would be learned; expected a positive number")
    if not 0 <= values["beta"] <= 1:
        raise XmlcError(f"beta={values['beta']}: expected a weight from 0 to 1")
    for name, known in CHOICES.items():
        if values[name] not in known:
            raise XmlcError(f"{name}={values[name]!r}: expected {known[0]!r} or {known[1]!r}")


def check_dense_size(optimizer: str, shape: tuple[int, int]) -> None:
    """Raise `XmlcError` if instances of this shape, (n, d), are too many to standardise each feature."""
    n, d = shape
    if optimizer == "sgd" and n * (d + 1) > MOST_DENSE_VALUES:
        raise XmlcError(
            f"optimizer='sgd' standardises all {d} features of {n} instances: {n * (d + 1)} values, expected at most "
            f"{MOST_DENSE_VALUES}; take optimizer='nag'"
        )


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the hyperparameters that a node's training depends on."""
    return Settings(
        arity=int(values["arity"]),
        epochs=int(values["epochs"]),
        learning_rate=float(values["learning_rate"]),
        lambda_1=float(values["lambda_1"]),
        lambda_2=float(values["lambda_2"]),
        adaptive=values["optimizer"] == "nag",
        random_ties=values["ties"] == "random",
        uniform_start=values["initial_weights"] == "uniform",
        prune=bool(values["prune"]),
    )
