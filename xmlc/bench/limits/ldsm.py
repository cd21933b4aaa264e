"""LdSM beside its bare memory accesses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.bench.harness import TRAINING, Data
from xmlc.bench.limits._paths import Paths, paths_to, read_leaves, read_paths
from xmlc.bench.limits._regressors import train_paths
from xmlc.bench.limits.work import Arrays, Work, forest_name, forest_ranking
from xmlc.bench.settings import LDSM_OTHERWISE, paper_setting
from xmlc.csr import KernelCSR, kernel_csr
from xmlc.models._leaf_averages import Reached
from xmlc.models.ldsm import LdSM
from xmlc.runtime.parallel import run_pieces

TREES, FEW_TREES, LARGE = 10, 2, 1_000_000  # the paper's number; and where X has more non-zeros


def works(data: Data) -> Iterator[Work]:
    """Yield training and ranking."""
    n_trees = TREES if data.X.nnz <= LARGE else FEW_TREES
    otherwise = LDSM_OTHERWISE | {"unit_norm": True, "n_trees": n_trees}
    model = LdSM().set_params(**paper_setting("ldsm2020", "ldsm-mean", "", otherwise).hyperparameters)
    model.fit(data.X, data.Y)
    yield training(model, data.X, data.Y)
    yield ranking(model, data.X_test)


def training(model: LdSM, X: sparse.csr_array, Y: sparse.csr_array) -> Work:
    """Return the training of a fitted forest's nodes: non-zeros times directions, in each epoch."""
    x, y = model._kernel_form(X), kernel_csr(Y)
    _, paths = reached_by(model, x, X.shape[0])
    lengths = np.diff(x.indptr)[paths.instances] + 1  # the constant feature
    trees = _trees_of(model, paths)
    units = float(lengths.sum()) * model.arity * model.epochs
    own_labels = float(np.diff(y.indptr)[paths.instances].sum()) * model.arity * model.epochs

    def call(threads: int) -> Arrays:
        return model.set_params(n_jobs=threads).fit(X, Y).forest_._asdict()

    def bare(threads: int) -> None:
        sizes = X.shape[1], Y.shape[1], model.arity, model.epochs
        run_pieces(train_paths, [(x, y, *sizes, own) for own in trees], threads)

    return Work(
        contender=forest_name("LdSM", model),
        task=TRAINING,
        unit="non-zero x direction x epoch",
        units=units,
        call=call,
        bare=bare,
        bare_units=units,
        note=f"{own_labels / units:.2f} labels for each",
    )


def ranking(model: LdSM, X: sparse.csr_array) -> Work:
    """Return the ranking of the best labels: non-zeros times nodes passed and directions, and labels of leaves."""
    x, forest, n, m = model._kernel_form(X), model.forest_, X.shape[0], model.n_labels_
    reached, paths = reached_by(model, x, n)

    def descend(own: Paths) -> float:
        dense = np.zeros(X.shape[1] * model.arity, np.float32)
        return read_paths(x, own, forest.weight_starts, forest.features, forest.weights, dense)

    def add_up(first: int, last: int) -> float:
        return read_leaves(*reached, forest.leaf_starts, forest.labels, forest.counts, first, last, np.zeros(m))

    nonzeros = float(np.diff(x.indptr)[paths.instances].sum()) * model.arity
    own_labels = float(np.diff(forest.leaf_starts)[reached.leaves].sum())
    trees, unit = _trees_of(model, paths), "non-zero x node x direction"
    return forest_ranking("LdSM", model, X, unit, nonzeros, own_labels, trees, descend, add_up)


def reached_by(model: LdSM, x: KernelCSR, n: int) -> tuple[Reached, Paths]:
    """Return the leaves that n instances reach, and the inner nodes above them."""
    reached, _ = model._descend(x, 0, n, model._open_forest(), 1, "")
    instances = np.concatenate([np.repeat(np.arange(n), np.diff(own)) for own in reached.starts])
    return reached, paths_to(reached.leaves, instances, model.forest_.children)


def _trees_of(model: LdSM, paths: Paths) -> list[Paths]:
    starts = model.forest_.inner_starts
    return [paths.of(first, last) for first, last in pairwise(starts)]
