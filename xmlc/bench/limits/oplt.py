"""Online trees beside the bare accesses to their tables and rows of weights, and ranking by the trees they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import sparse

from xmlc.bench.harness import TRAINING, Data
from xmlc.bench.limits.plt_ranking import ranking
from xmlc.bench.limits.work import Arrays, Work
from xmlc.bench.oplt._access import touch_blocks
from xmlc.bench.oplt.variants import OURS, VARIANTS
from xmlc.bench.plt.pairs import block_degrees, training_pairs, training_reach
from xmlc.bench.settings import Setting, paper_setting
from xmlc.csr import kernel_csr, unit_rows
from xmlc.models.oplt import OPLT, breadth_first
from xmlc.models.oplt.tree import ABOVE
from xmlc.runtime.parallel import run_pieces

UNIT = "non-zero x node"
ONLINE = ("OPLT-R", "OPLT-B", "OPLT-W")
COMPLETE = "OPLT, complete"
MOST_ROWS = 1 << 14  # trained on: the weights of so many, and their copies, are gigabytes on tib-core-26k
PAIRS_PER_PIECE = 1 << 22  # of a non-zero and a node, touched by one thread


def works(data: Data) -> Iterator[Work]:
    """Yield the training of each policy, all of `fit` in one pass over at most `MOST_ROWS` instances, and its ranking.

    Training is counted by the pairs of a non-zero and a node classifier of the tree that it ends with: those that
    learning that tree takes (Definition 1 of oplt2021), though the online tree is smaller at first. The bare accesses
    have the same pairs. Ranking is that of the PLT which the online tree is copied to when instances are ranked.
    """
    X, Y = data.X[:MOST_ROWS], data.Y[:MOST_ROWS]
    for name, (_, hyperparameters) in settings(data.name).items():
        model = OPLT(n_jobs=1).set_params(**hyperparameters).fit(X, Y)
        yield ranking(name, model.to_plt().set_params(n_jobs=1), data)
        pairs = training_pairs(X, Y[:, model.labels_], model.tree_)
        yield Work(
            contender=name,
            task=TRAINING,
            unit=UNIT,
            units=pairs,
            call=partial(_trained, model, X, Y),
            bare=bare_pass(model, X, Y),
            bare_units=pairs,
            note=f"{X.shape[0]} instances; {model.n_nodes_[0]} nodes",
        )


def settings(dataset: str) -> dict[str, Setting]:
    """Return the hyperparameters of each contender: the paper's, and a complete tree's."""
    ours = {name: paper_setting("oplt2021", VARIANTS[name][OURS], dataset) for name in ONLINE}
    like = VARIANTS[ONLINE[0]][OURS]
    return ours | {COMPLETE: paper_setting("oplt2021", like, dataset, {"policy": "complete"})}


def bare_pass(model: OPLT, X: sparse.csr_array, Y: sparse.csr_array) -> Callable[[int], object]:
    """Return what touches the tables and rows of one pass on so many threads; the model's weights are lost."""
    tree, nodes = model._online, online_nodes(model)
    x = kernel_csr(unit_rows(X) if model.unit_norm else X)
    reach = training_reach(X, Y[:, model.labels_], model.tree_)
    inner = np.flatnonzero(block_degrees(model.tree_) > 0)
    counts = np.diff(reach.block_starts)[inner]
    starts = np.concatenate(([0], np.cumsum(counts)))
    rows = np.concatenate([reach.block_positions[slice(*reach.block_starts[b : b + 2])] for b in inner]).astype(
        np.int64
    )
    nonzeros = np.concatenate(([0], np.cumsum(np.diff(X.indptr)[rows])))
    work = np.cumsum(np.diff(nonzeros[starts]) * block_degrees(model.tree_)[inner])
    cuts = np.flatnonzero(np.diff(work // PAIRS_PER_PIECE, prepend=-1))
    pieces = [(x, tree, nodes[inner], starts, rows, first, end) for first, end in zip(cuts, [*cuts[1:], inner.size])]
    return lambda threads: run_pieces(touch_blocks, pieces, threads)


def online_nodes(model: OPLT) -> np.ndarray:
    """Return the online tree's number of the node whose block each block of ``tree_`` is, int32."""
    return np.concatenate((np.array([ABOVE], dtype=np.int32), breadth_first(model._online)[0]))


def _trained(model: OPLT, X: sparse.csr_array, Y: sparse.csr_array, threads: int) -> Arrays:
    again = OPLT().set_params(**model.get_params()).set_params(n_jobs=threads)
    return again.fit(X, Y)._state()[0]
