"""What the hyperparameters of LdSM may be, and in which form kernels take them."""

from __future__ import annotations

from typing import Protocol

from xmlc.errors import XmlcError
from xmlc.models.ldsm._regressors import Settings

MOST_DENSE_VALUES = 1 << 30  # of a node's standardised instances, 8 bytes each


class Hyperparameters(Protocol):
    """What an estimator must have that is checked and set here; see `LdSM`."""

    n_trees: int
    max_nodes: int
    exceed: bool
    arity: int
    epochs: int
    learning_rate: float
    lambda_1: float
    lambda_2: float
    beta: float
    gamma: float
    optimizer: str
    ties: str
    initial_weights: str
    average: str
    shares: str
    prune: bool


def check_dense_size(optimizer: str, shape: tuple[int, int]) -> None:
    """Raise `XmlcError` if instances of this shape, (n, d), are too many to standardise each feature."""
    n, d = shape
    if optimizer == "sgd" and n * (d + 1) > MOST_DENSE_VALUES:
        raise XmlcError(
            f"optimizer='sgd' standardises all {d} features of {n} instances: {n * (d + 1)} values, expected at most "
            f"{MOST_DENSE_VALUES}; take optimizer='nag'"
        )


def enough_nodes(model: Hyperparameters) -> int:
    """Return the number of nodes from which on a tree is not split any more."""
    return int(model.max_nodes) if model.exceed else int(model.max_nodes) - int(model.arity) + 1


def settings_of(model: Hyperparameters) -> Settings:
    """Return the hyperparameters that a node's training depends on."""
    return Settings(
        arity=int(model.arity),
        epochs=int(model.epochs),
        learning_rate=float(model.learning_rate),
        lambda_1=float(model.lambda_1),
        lambda_2=float(model.lambda_2),
        adaptive=model.optimizer == "nag",
        random_ties=model.ties == "random",
        uniform_start=model.initial_weights == "uniform",
        prune=bool(model.prune),
    )
