"""One estimator trained several times: with each value of a hyperparameter, or on fewer and fewer instances."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from scipy import sparse

from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.measuring.forests import shape_of_trees
from xmlc.measuring.prediction import predict_timed
from xmlc.metrics.ranking import K, precision_and_ndcg, precision_at_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.condensing import kept_instances
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import warm_up
from xmlc.passport import WARM_UP_ROWS, timed
from xmlc.records.condensed import CondensedRow
from xmlc.records.sweep import SweepRow
from xmlc.records.training import TrainingRecord

Data = tuple[sparse.csr_array, sparse.csr_array]


def sweep_rows(
    prepared: Prepared, base: TrainingRecord, swept: str, values: Iterable[object], threads: int
) -> tuple[SweepRow, ...]:
    """Train on the whole training set with each value of a hyperparameter, and rank the labels of the test set.

    Parameters
    ----------
    prepared : Prepared
    base : TrainingRecord
        Its estimator, hyperparameters and seed are those of all rows; the swept one is put over them.
    swept : str
        Name of the hyperparameter.
    values : iterable
    threads : int
    """
    train, test = prepared.part("train"), prepared.part("test")
    rows = []
    for value in values:
        model = make_estimator(base.estimator, base.hyperparameters | {swept: value}, base.seed, threads)
        rows.append(_train_and_rank(model, value, train, test))
    return tuple(rows)


def _train_and_rank(model: SparseProbabilityEstimator, value: object, train: Data, test: Data) -> SweepRow:
    warm_up(model, *train)
    _, seconds = timed(lambda: model.fit(*train))
    (labels, _), ms = predict_timed(model, test[0], partial(model.predict_top_k, k=max(K)))
    trees = shape_of_trees(model)
    return SweepRow(
        value=value,
        metrics=precision_and_ndcg(test[1], labels),
        depth=max(trees.depths) if trees else None,
        nodes=sum(trees.nodes) / len(trees.nodes) if trees else None,
        train_seconds=seconds,
        predict_ms_per_instance=ms,
    )


def condensed_rows(
    prepared: Prepared, base: TrainingRecord, similarities: Iterable[float], threads: int
) -> tuple[CondensedRow, ...]:
    """Index the whole training set, then what each similarity keeps of it, and rank the labels of the test set.

    Parameters
    ----------
    prepared : Prepared
    base : TrainingRecord
        Of an estimator that keeps its training instances.
    similarities : iterable of float
        Cosines from which on an instance stands for another.
    threads : int

    Raises
    ------
    XmlcError
        The estimator keeps no training instances.
    """
    (X, Y), test = prepared.part("train"), prepared.part("test")
    model = make_estimator(base.estimator, base.hyperparameters, base.seed, threads)
    _kept_bytes(model.unfitted().fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]))  # refuses at once what keeps none
    rows = [_index_and_rank(model, None, (X, Y), test)]
    for similarity in similarities:
        kept = kept_instances(X, Y, similarity)
        rows.append(_index_and_rank(model.unfitted(), similarity, (X[kept], Y[kept]), test))
    return tuple(rows)


def _index_and_rank(
    model: SparseProbabilityEstimator, similarity: float | None, train: Data, test: Data
) -> CondensedRow:
    model.fit(*train)
    (labels, _), ms = predict_timed(model, test[0], partial(model.predict_top_k, k=max(K)))
    return CondensedRow(
        similarity=similarity,
        instances=train[0].shape[0],
        index_bytes=_kept_bytes(model),
        metrics={f"p@{k}": precision_at_k(test[1], labels, k) for k in K},
        predict_ms_per_instance=ms,
    )


def _kept_bytes(model: SparseProbabilityEstimator) -> int:
    """Return the bytes that a fitted model keeps of its training instances, its learned ``index_bytes_``."""
    kept: int | None = getattr(model, "index_bytes_", None)
    if kept is None:
        raise XmlcError(f"{type(model).__name__} keeps no training instances; expected swnn")
    return kept
