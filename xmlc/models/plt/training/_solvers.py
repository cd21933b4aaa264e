"""Solvers for the classifiers of some siblings: the parameters of each, and the kernel that it is: kernels.

A solver is a type, so that numba compiles `train_siblings` for the one that is used and for no other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.counter_random import stream_key
from xmlc.models.plt.training._adagrad import train_children_adagrad
from xmlc.models.plt.training._dual import train_children_dual
from xmlc.models.plt.training._sgd import train_children


class Sgd(NamedTuple):
    """Two-phase stochastic gradient descent with L2 regularisation (plt2016, Appendix B).

    Attributes
    ----------
    step : float
        Initial step size: step t (from 0) of a node is ``step / (1 + lam * step * t)``. With t from 1, as in the
        authors' Java program, all steps are those of the initial size ``step / (1 + lam * step)``.
    lam : float
        Regularisation lambda.
    epochs : int
        Passes over the instances.
    """

    step: float
    lam: float
    epochs: int


class AdaGrad(NamedTuple):
    """AdaGrad without regularisation (oplt2021, Section 6).

    Attributes
    ----------
    step : float
        A weight's step is ``step / sqrt(eps + its squared derivatives so far)``.
    eps : float
    epochs : int
        Passes over the instances.
    """

    step: float
    eps: float
    epochs: int


class DualDescent(NamedTuple):
    """Dual coordinate descent with L2 regularisation, see `train_children_dual`.

    Attributes
    ----------
    C : float
        Weight of the loss against half the squared length of a node's weights.
    tol : float
        A node stops when none of its dual variables moved by more than ``tol * C`` in a pass.
    max_epochs : int
        Passes over the instances, at most.
    squared_hinge : bool
        The squared hinge loss; else the logistic loss.
    key : uint64
        Random stream of the order of the instances.
    """

    C: float
    tol: float
    max_epochs: int
    squared_hinge: bool
    key: np.uint64


Solver = Sgd | AdaGrad | DualDescent


def numbers_per_weight(solver):
    """Return how many float32 a solver keeps for each weight: AdaGrad the weight and its sum of squared derivatives."""
    raise TypeError("only kernels call this")


@overload(numbers_per_weight)
def _choose_numbers_per_weight(solver):
    if solver.instance_class is AdaGrad:
        return lambda solver: 2
    return lambda solver: 1


def solve(solver, ends, ids, values, targets, state, bias, n_siblings, block):
    """Train the classifiers of some siblings.

    Parameters
    ----------
    solver : Sgd, AdaGrad or DualDescent
    ends : int64 (instances + 1,), ids : uint32, values : float32
        Instances that reach the parent, in the order of the pass, with the parent's feature numbers.
    targets : uint8 (instances, padded)
        z_t of each instance and sibling; the siblings, here and below, padded to `padded_size` with targets 0.
    state : float32 (features * numbers_per_weight * padded,)
        Zero on entry; on return a feature's row begins with the weights of the siblings.
    bias : float32 (padded,)
        Zero on entry; the weight of the constant feature 1 on return.
    n_siblings : int
        How many siblings are no padding.
    block : int
        The number of their block.

    Returns
    -------
    int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    """
    raise TypeError("only kernels call this")


@overload(solve)
def _choose_solve(solver, ends, ids, values, targets, state, bias, n_siblings, block):
    if solver.instance_class is Sgd:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            train_children(ends, ids, values, targets, state, bias, solver.step, solver.lam, solver.epochs)
            return solver.epochs * ids.size * n_siblings

    elif solver.instance_class is AdaGrad:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            train_children_adagrad(ends, ids, values, targets, state, bias, solver.step, solver.eps, solver.epochs)
            return solver.epochs * ids.size * n_siblings

    else:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            return train_children_dual(
                ends, ids, values, targets, state, bias, n_siblings,
                solver.squared_hinge, solver.C, solver.tol, solver.max_epochs, stream_key(solver.key, block),
            )  # fmt: skip

    return implementation
