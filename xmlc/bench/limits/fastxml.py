"""FastXML beside its bare memory accesses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.bench.harness import TRAINING, Data
from xmlc.bench.limits._columns import Tape, read_nodes
from xmlc.bench.limits._paths import Paths, paths_to, read_leaves, read_paths
from xmlc.bench.limits.work import Arrays, Work, forest_name, forest_ranking
from xmlc.bench.settings import FASTXML_OTHERWISE, paper_setting
from xmlc.csr import KernelCSR, kernel_csr
from xmlc.kernels.counter_random import stream_key
from xmlc.kernels.streams import Stream
from xmlc.models.fastxml import FastXML
from xmlc.models.fastxml._grow import Accesses, new_workspace, split_node
from xmlc.models.fastxml._logistic import SolverLimits
from xmlc.models.fastxml._partition import discount_table, ideal_table
from xmlc.models.fastxml._predict import find_leaves
from xmlc.runtime.parallel import run_pieces

TREES, FEW_TREES, LARGE = 20, 4, 1_000_000  # of the paper's 50; and where X has more non-zeros


def works(data: Data) -> Iterator[Work]:
    """Yield training and ranking."""
    setting = paper_setting("plt2016", "fastxml", "", FASTXML_OTHERWISE).hyperparameters
    setting["n_trees"] = TREES if data.X.nnz <= LARGE else FEW_TREES
    model = FastXML().set_params(**setting)
    yield training(model, data.X, data.Y)
    yield ranking(model.fit(data.X, data.Y), data.X_test)


def training(model: FastXML, X: sparse.csr_array, Y: sparse.csr_array) -> Work:
    """Return the training of a forest: reads of non-zeros and of labels."""
    x, y = model._kernel_form(X), kernel_csr(Y)
    tapes = [record(model, x, y, X.shape[1], Y.shape[1], tree) for tree in range(model.n_trees)]
    lengths = np.diff(x.indptr)
    accesses = np.concatenate([tape.accesses for tape in tapes])
    of = dict(zip(Accesses._fields, accesses.T))
    parts = {
        "rows": sum(int(lengths[tape.instances].sum()) for tape in tapes),
        "derivatives": int(of["derivatives"] @ of["entries"]),
        "visits": int(of["visited"].sum()),
        "moves": int(of["moved"].sum()),
        "labels": int(of["labels"] @ of["rounds"]),
    }
    units = float(sum(parts.values()))

    def call(threads: int) -> Arrays:
        fitted = model.set_params(n_jobs=threads).fit(X, Y)
        return fitted.forest_._asdict()

    return Work(
        contender=forest_name("FastXML", model),
        task=TRAINING,
        unit="non-zero or label read",
        units=units,
        call=call,
        bare=lambda threads: run_pieces(read_nodes, [(x, y, X.shape[1], Y.shape[1], tape) for tape in tapes], threads),
        bare_units=units,
        note=", ".join(f"{part} {100 * number / units:.0f} %" for part, number in parts.items()),
    )


def ranking(model: FastXML, X: sparse.csr_array) -> Work:
    """Return the ranking of the best labels: non-zeros times nodes passed, and labels of leaves."""
    x, forest, n, m = model._kernel_form(X), model.forest_, X.shape[0], model.n_labels_
    leaves = np.empty((model.n_trees, n), dtype=np.int32)
    for root, own in zip(forest.roots, leaves):
        find_leaves(x, 0, n, int(root), forest, X.shape[1], own)
    paths = paths_to(leaves.ravel(), np.tile(np.arange(n), model.n_trees), forest.children.reshape(-1, 2))
    bounds = np.append(np.maximum(forest.roots, 0), len(forest.biases))
    starts = np.arange(n + 1) + n * np.arange(model.n_trees)[:, None]

    def descend(own: Paths) -> float:
        weights = forest.weights[:, None]
        return read_paths(x, own, forest.weight_starts, forest.features, weights, np.zeros(X.shape[1], np.float32))

    def add_up(first: int, last: int) -> float:
        of_leaves = forest.leaf_starts, forest.labels, forest.counts
        return read_leaves(starts, leaves.ravel(), *of_leaves, first, last, np.zeros(m))

    nonzeros = float(np.diff(x.indptr)[paths.instances].sum())
    own_labels = float(np.diff(forest.leaf_starts)[leaves].sum())
    trees = [paths.of(first, last) for first, last in pairwise(bounds)]
    return forest_ranking("FastXML", model, X, "non-zero x node", nonzeros, own_labels, trees, descend, add_up)


def record(model: FastXML, x: KernelCSR, y: KernelCSR, d: int, m: int, tree: int) -> Tape:
    """Grow a tree of uniform label weights as `xmlc.models.fastxml._grow.grow_tree` does, and note what it reads."""
    n = x.indptr.size - 1
    work = new_workspace(n, m, d, x.indices.size)
    tables = ideal_table(int(np.diff(y.indptr).max(initial=0)) + 1), discount_table(m)
    limits = SolverLimits(model.tolerance, model.newton_steps, model.passes, model.line_search_steps)
    key = stream_key(np.uint64(model.random_state) ^ np.uint64(Stream.FASTXML_TREE.value), tree)
    weights, number = np.ones(m, dtype=np.float32), 1  # where `grow_tree` begins to number its nodes
    instances: list[np.ndarray] = []
    features: list[np.ndarray] = []
    accesses: list[Accesses] = []
    todo = [(0, n)]
    while todo:
        start, end = todo.pop()
        node, n_negative = work.order[start:end], 0
        number += 1
        if node.size > model.max_leaf:
            node_key = np.uint64(stream_key(np.uint64(key), number))
            instances.append(node.copy())
            n_negative, *_, own = split_node(x, y, node, weights, *tables, node_key, model.cost, limits, work)
            features.append(work.features[: max(0, own.columns - 1)].copy())
            accesses.append(own)
        if 0 < n_negative < node.size:
            todo += [(start, start + n_negative), (start + n_negative, end)]
    return Tape(
        np.cumsum([0] + [own.size for own in instances]),
        np.concatenate(instances),
        np.cumsum([0] + [own.size for own in features]),
        np.concatenate(features),
        np.array(accesses, dtype=np.int64),
    )
