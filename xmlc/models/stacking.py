"""Stacking: a logistic regression over the scores of several models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.checksums import check_no_link
from xmlc.core.errors import XmlcError, nearest, shown
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels import elementwise
from xmlc.kernels.csr import NO_WEIGHTS, KernelCSR, Matrix, entries_above, stack_estimates, top_k_of
from xmlc.kernels.domains import MANY, N_JOBS, SEED, Named, NumberRange, whole
from xmlc.kernels.estimator import (
    Hyperparameters,
    InvalidParameterError,
    check_value,
    hyperparameters,
    param,
)
from xmlc.kernels.indices import Malformed
from xmlc.kernels.rows import top_k_of_row
from xmlc.kernels.stored import FINITE, Field
from xmlc.metrics.propensity import propensities
from xmlc.models._held_out import (
    Lists,
    Pairs,
    held_out_parts,
    joined,
    log_shares,
    pairs_of,
)
from xmlc.models._stacked import (
    calibrated_estimates,
    features_of,
    fit_stacked,
    merge_lists,
    n_features_of,
    row_features,
    scores_of,
)
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.registry import load_model, make_estimator, registered_name

ROWS_PER_BLOCK = 1 << 16
ROWS_PER_TASK = 256

#: The coefficients of the score, 1 and the two features of the instance that change no estimate.
UNCALIBRATED = (1.0, 0.0, 0.0, 0.0)


# names and estimators of the members
MEMBERS = (("swnn", "swnn"), ("plt", "plt"))
FEW_LABELS = 256
ONE_VS_REST = {"tree": "random", "arity": FEW_LABELS, "solver": "batch"}  # a tree of depth 1
MEMBERS_FOR_FEW_LABELS = (
    ("swnn", "swnn"),
    ("logistic", {"plt": {**ONE_VS_REST, "loss": "logistic"}}),
    ("hinge", {"plt": {**ONE_VS_REST, "loss": "squared_hinge"}}),
)
OWN = ("estimators", "n_candidates", "n_held_out", "n_jobs", "propensity_exponent", "random_state")


@hyperparameters
class Stacking(SparseProbabilityEstimator):
    """A stack of estimators, with a logistic regression over their scores.

    The score of label j for instance x is z = w . f, with coefficients w that all labels share. The
    features f are the logit of the members' mean score, the constant 1, the logarithms of s + 0.001
    for the score s of each member and of the share of instances with label j, and all products of
    two logarithms.

    The estimate is sigmoid(a z + b + c best + d log(sum)). Here *best* is the largest z of the
    instance, and *sum*, the sum of sigmoid(z) over its candidates, is its expected number of
    labels. Both correct estimates that are too large for easy instances or too small for difficult
    ones, and leave the order of an instance's labels alone, because a is positive.

    Candidates are the labels that a member ranks among its ``n_candidates`` best, and all others
    have the estimate 0. Both regressions are fitted to the candidates of held-out instances. Then
    the members are trained again, on all instances and with the hyperparameters that the first
    training selected.

    Parameters
    ----------
    estimators : sequence of (str, estimator), or None
        Names and members, as for scikit-learn's ``StackingClassifier``. A member is an estimator of
        `xmlc.models`, or of scikit-learn (which `xmlc.models.wrapped.Wrapped` then wraps), or a
        name that `xmlc fit --estimator` accepts. A name can have hyperparameters, as in ``("plt",
        {"plt": {"arity": 4}})``, also set by ``plt__arity=4`` in `set_params`, and uses the
        ``random_state`` of the stacking estimator unless they include one.

        None selects ``swnn`` and ``plt``. Up to 256 labels, unless `set_params` changes a member,
        one binary classifier per label is fast and ranks better than a tree, so the members are
        ``swnn`` and two one-vs-rest trees of depth 1, ``logistic`` and ``hinge``, named after their
        losses.
    n_held_out : int
        Number of held-out instances. If more than a fifth of the training set, up to five parts
        take turns. With 0, or with fewer than 30 training instances, an estimate is the mean of the
        members' scores.
    n_candidates : int
        Number of labels that each member ranks.
    propensity_exponent : float
        `predict_top_k` and ``rank_one`` rank labels by estimate * (p_min / p)**propensity_exponent,
        with the label's propensity p (`xmlc.metrics.propensities`) and the smallest one, p_min. The
        larger the exponent, the more it favours rare labels.
    random_state : int
        Seed of the held-out instances.
    n_jobs : int or None
        Number of threads, also of the members. With None, each member keeps its own.

    Attributes
    ----------
    members_ : dict of str to estimator
        The fitted members.
    coefficients_ : ndarray of float64, shape (p,)
        The coefficients w, in the order of `xmlc.models._stacked.features_of`.
    calibration_ : ndarray of float64, shape (4,)
        The coefficients a, b, c and d.
    log_shares_ : ndarray of float64, shape (m,)
        For each label log((c + 0.5) / n), with the total weights c of its instances and n of all.
    propensities_ : ndarray of float64, shape (m,)
        The propensities p, which ignore weights.
    inner_products_ : ndarray of int64, shape (n,), or None
        Number of inner products of all members in the last prediction, if all of them count these.

    See Also
    --------
    xmlc.models.PLT : The label tree that is the default member for many labels.
    xmlc.models.SparseWeightedNearestNeighbors : The other default member.

    Notes
    -----
    The method is from Wolpert, *Stacked generalization*, Neural Networks 5, 1992.

    Examples
    --------
    >>> from xmlc.models import Stacking
    >>> X, Y = [[1, 0], [0, 1]] * 30, [[1, 0, 1], [0, 1, 0]] * 30
    >>> model = Stacking().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist()
    [[0, 2]]
    """

    MODEL_FORMAT = 2
    FIELDS = (
        Field("coefficients_", np.float64, ("p",), within=FINITE),
        Field("calibration_", np.float64, (len(UNCALIBRATED),), within=FINITE),
        Field("log_shares_", np.float64, ("n_labels",), within=FINITE),
        Field("propensities_", np.float64, ("n_labels",), within=(np.finfo(np.float64).tiny, 1)),
    )

    estimators: Sequence[tuple[str, Any]] | None = param(Named(OWN), default=None)
    n_held_out: int = param(whole(0, MANY), default=2000)
    n_candidates: int = param(whole(1, MANY), default=50)
    propensity_exponent: float = param(NumberRange(0, 10), default=0.0)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train the members and the regression on different instances, then the members on all.

        Instance weights apply to the members, all of which must accept ``sample_weight``, and to
        the loss of the regression.

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        members = self.members(Y.shape[1])
        given = None if sample_weight is None else weights
        pairs = []
        for part, held_out in held_out_parts(X.shape[0], int(self.n_held_out), self.random_state):
            lists = []
            for member in members.values():
                first = member.unfitted()._fit_rows(X, Y, given, part)
                member.set_params(**first._selected())  # the choices of the first part are kept
                lists.append(first.predict_top_k(X[held_out], self._n_ranked()))
                del first  # members may be large: only one is in memory
            shares = log_shares(Y[part], weights[part])
            pairs.append(pairs_of(held_out, joined(lists), Y, weights, shares))
        self._learn(pairs, len(members))
        for name, member in members.items():
            if self._into is None:
                member._fit_rows(X, Y, given)
            else:
                member.fit_to_disk(self._into / name, X, Y, given)
        self.members_ = members
        self.log_shares_ = log_shares(Y, weights)
        self.propensities_ = propensities(Y)
        return self

    def _learn(self, of_parts: list[Pairs], n_members: int) -> None:
        # coefficient 1 for the logit of the mean score makes the estimate the mean of the scores
        self.coefficients_ = np.zeros(n_features_of(n_members))
        self.coefficients_[0] = 1
        self.calibration_ = np.array(UNCALIBRATED)
        self._held_out = None
        if not of_parts:
            return
        pairs = Pairs(*map(np.concatenate, zip(*of_parts, strict=True)))
        self.coefficients_ = fit_stacked(
            pairs.features, pairs.true, pairs.weights, self.coefficients_
        )
        z = scores_of(pairs.features, self.coefficients_)
        of_rows = row_features(pairs.counts, z)
        logits = np.column_stack((z, np.ones(z.size), np.repeat(of_rows, pairs.counts, axis=0)))
        calibration = fit_stacked(logits, pairs.true, pairs.weights, self.calibration_)
        if calibration[0] > 0:  # a better score must not have a smaller estimate
            self.calibration_ = calibration
        estimates = calibrated_estimates(pairs.counts, z, of_rows, self.calibration_)
        spe = stack_estimates(pairs.counts, pairs.candidates, estimates, self.n_labels_)
        self._held_out = pairs.rows, spe

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the candidates' estimates that are strictly greater than a threshold.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
        """
        return self._estimates(X, threshold, NO_WEIGHTS)

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rank the candidates of each instance, and return the k best with their scores.

        A score is the estimate times (p_min / p)**propensity_exponent and the label weight, if
        given. Labels of weight 0 are never candidates.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_top_k` for parameters and result.
        """
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        spe = self._estimates(X, 0.0, weights)
        if self.propensity_exponent:
            spe.data *= self._favours(self.propensities_)[spe.indices]
        return top_k_of(spe, k, weights)

    def _estimates(
        self, X: Matrix, threshold: float | np.ndarray, label_weights: np.ndarray
    ) -> sparse.csr_array:
        X = self._instances(X)
        thresholds = self._label_thresholds(threshold)
        members = [member._for_requests() for member in self.members_.values()]
        inner_products = np.zeros(X.shape[0], dtype=np.int64)

        def ranked(start: int, end: int, allowed: np.ndarray | None) -> Lists:
            lists = []
            for member in members:
                lists.append(member.predict_top_k(X[start:end], self._n_ranked(), allowed))
                if member.inner_products_ is not None:
                    inner_products[start:end] += member.inner_products_
            return joined(lists)

        found = list[Any]()
        for start, end in row_blocks(X.shape[0], ROWS_PER_BLOCK) or [(0, 0)]:
            every = ranked(start, end, None)
            lists = every
            if not label_weights.all():
                lists = ranked(start, end, (label_weights > 0).astype(np.float64))
            tasks = [(lists, every, *rows) for rows in row_blocks(end - start, ROWS_PER_TASK)]
            found += run_tasks(self._combined, tasks or [(lists, every, 0, 0)], self.n_jobs)
        counts, labels, estimates = (np.concatenate(part) for part in zip(*found, strict=True))
        self.inner_products_ = inner_products
        if any(member.inner_products_ is None for member in members):
            self.inner_products_ = None
        return entries_above(stack_estimates(counts, labels, estimates, self.n_labels_), thresholds)

    def _combined(
        self, lists: Lists, every: Lists, start: int, end: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return some instances' numbers of candidates, all candidates, and their estimates.

        ``lists`` has only the allowed labels, but features come from ``every``, which has all, so
        an estimate does not depend on which labels are allowed.
        """
        counts, candidates, z = self._scored(lists, start, end)
        of_rows = row_features(counts, z)
        if every is not lists:
            all_counts, _, all_z = self._scored(every, start, end)
            of_rows = row_features(all_counts, all_z)
        return counts, candidates, calibrated_estimates(counts, z, of_rows, self.calibration_)

    def _scored(
        self, lists: Lists, start: int, end: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        labels, scores = lists
        counts, candidates, values = merge_lists(labels[start:end], scores[start:end])
        z = scores_of(features_of(candidates, values, self.log_shares_), self.coefficients_)
        return counts, candidates, z

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        labels, scores = self._estimate_row(x, 0.0, label_weights)
        if self.propensity_exponent:
            scores *= self._favours(self.propensities_[labels])
        return top_k_of_row(labels, scores, k, label_weights)

    def _estimate_row(
        self, x: KernelCSR, threshold: float, label_weights: np.ndarray = NO_WEIGHTS
    ) -> tuple[np.ndarray, np.ndarray]:
        def ranked(allowed: np.ndarray) -> Lists:
            return joined(
                [
                    member._rank_row(x, self._n_ranked(), allowed)
                    for member in self.members_.values()
                ]
            )

        every = ranked(NO_WEIGHTS)
        lists = every
        if not label_weights.all():
            lists = ranked((label_weights > 0).astype(np.float64))
        _, candidates, estimates = self._combined(lists, every, 0, 1)
        above = np.flatnonzero(estimates > np.float32(threshold))
        return candidates[above], estimates[above]

    def _n_ranked(self) -> int:
        return min(int(self.n_candidates), self.n_labels_)

    def _favours(self, propensities: np.ndarray) -> np.ndarray:
        relative = self.propensities_.min() / propensities
        return elementwise.power(relative, float(self.propensity_exponent)).astype(np.float32)

    def members(self, n_labels: float = math.inf) -> dict[str, SparseProbabilityEstimator]:
        """Return the untrained members for ``n_labels`` labels, by name."""
        members = {name: self._member(given) for name, given in self._specified(n_labels)}
        self._set_threads(members)
        return members

    def _set_threads(self, members: Mapping[str, SparseProbabilityEstimator]) -> None:
        for member in members.values():
            if self.n_jobs is not None and "n_jobs" in member.get_params():
                member.set_params(n_jobs=self.n_jobs)

    def _specified(self, n_labels: float) -> Sequence[tuple[str, Any]]:
        check_value(Stacking, "estimators", self.estimators)
        if self.estimators is None:
            return default_members(n_labels)
        return self.estimators

    def _member(self, given: Any) -> SparseProbabilityEstimator:
        if isinstance(given, str | Mapping):
            kind, own = _kind_and_values(given)
            return make_estimator(kind, own, self.random_state)
        if isinstance(given, SparseProbabilityEstimator):
            return given.unfitted()
        from xmlc.models.wrapped import Wrapped

        return Wrapped(given).unfitted()  # Wrapped keeps its own number of threads

    def get_params(self, deep: bool = True) -> Hyperparameters:
        """Return the hyperparameters.

        With ``deep``, they include the members' as ``name__hyperparameter``, except a
        ``random_state`` or ``n_jobs`` that the stacking estimator sets.
        """
        found = super().get_params(deep=False)
        if not deep:
            return found
        if self.estimators is not None:
            found["estimators"] = [[name, _as_plain(given)] for name, given in self.estimators]
        for name, given in self._specified(math.inf):
            values = self._member(given).get_params()
            if isinstance(given, str | Mapping):
                _, own = _kind_and_values(given)
                for key in {"random_state", "n_jobs"} - own.keys():
                    values.pop(key, None)
            found |= {f"{name}__{key}": value for key, value in values.items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set hyperparameters, including a member's by ``name__hyperparameter``.

        Raises
        ------
        InvalidParameterError
            A hyperparameter does not exist.
        """
        own = self._hyperparameter_names()
        super().set_params(**{name: value for name, value in params.items() if name in own})
        for name, value in params.items():
            if name not in own:
                self._set_of_member(name, value)
        # here, because a prediction changes no member
        self._set_threads(getattr(self, "members_", {}))
        return self

    def _set_of_member(self, name: str, value: Any) -> None:
        members: dict[str, Any] = dict(self._specified(math.inf))
        member, _, key = name.partition("__")
        if member not in members or not key:
            known = nearest(name, self.get_params())
            raise InvalidParameterError(
                f"Stacking: found hyperparameter {name!r}, expected {known}"
            )
        given = members[member]
        # raises an error for a wrong name
        changed: Any = self._member(given).set_params(**{key: value})
        if self.estimators is None and self.get_params()[name] == value:
            return  # the default members stay those that fit to the number of labels
        if isinstance(given, str | Mapping):
            kind, values = _kind_and_values(given)
            changed = {kind: {**values, key: value}}
        self.estimators = [*(members | {member: changed}).items()]

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        members = {}
        by_name = []
        for name, given in self._specified(self.n_labels_):
            member = self._member(given)
            members[name] = {} if type(member).__name__ == "Wrapped" else member.get_params()
            if isinstance(given, str | Mapping):
                by_name.append(name)
        arrays = {field.name: getattr(self, field.name) for field in self.FIELDS}
        return arrays, {"members": members, "by_name": by_name}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        super()._restore(arrays, {})  # `_read_parts` reads the members

    def _write(self, folder: Path) -> None:
        super()._write(folder)
        for name, member in self.members_.items():
            if not (folder / name).exists():  # `fit_to_disk` may have written it
                member.save(folder / name)

    def _read_parts(self, folder: Path, meta: dict[str, Any], trusted: bool) -> None:
        members = meta["members"]
        if not isinstance(members, dict):
            raise Malformed("members", f"found {shown(members)}, expected an object")
        self.members_ = {}
        for name, values in members.items():
            if Path(name).name != name or not isinstance(values, dict):
                raise XmlcError(
                    f"{folder}: found the member {name!r}, expected the name of a subfolder"
                )
            check_no_link(folder / name)
            self.members_[name] = load_model(folder / name, trusted)
        for name, member in self.members_.items():
            if (member.n_features_in_, member.n_labels_) != (self.n_features_in_, self.n_labels_):
                found = (
                    f"found {member.n_features_in_} features and {member.n_labels_} labels in "
                    f"member {name}"
                )
                raise Malformed(
                    str(folder), f"{found}, expected {self.n_features_in_} and {self.n_labels_}"
                )
        size = n_features_of(len(members))
        if self.coefficients_.size != size:
            found = (
                f"found {self.coefficients_.size} coefficients of {len(members)} members, "
                f"expected {size}"
            )
            raise Malformed(str(folder / "coefficients_.npy"), found)
        self._set_threads(self.members_)
        if self.estimators is None:
            return
        specified = dict(self.estimators)
        for name in members.keys() - {*meta.get("by_name", [])}:
            specified[name] = self.members_[name].unfitted().set_params(**members[name])
        self.estimators = [(name, specified[name]) for name in members]


def _kind_and_values(given: str | Mapping[str, Hyperparameters]) -> tuple[str, Hyperparameters]:
    """Return the name of a member's estimator, and the member's hyperparameters.

    An `InvalidParameterError` is raised unless a mapping has one key, whose value is a mapping.
    """
    if isinstance(given, str):
        return given, {}
    if len(given) != 1 or not isinstance(next(iter(given.values())), Mapping):
        expected = (
            "one name of an estimator with its hyperparameters, such as {'plt': {'arity': 4}}"
        )
        raise InvalidParameterError(
            f"Stacking: found the member {shown(given)}, expected {expected}"
        )
    ((kind, values),) = given.items()
    return kind, dict(values)


def _as_plain(given: Any) -> Any:
    """Return a member as a value for JSON: its name, with hyperparameters if any, or its class."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return dict(given)
    if type(given).__name__ == "Wrapped":
        given = given.estimator
    place = f"{type(given).__module__}:{type(given).__name__}"
    return registered_name(place)


def default_members(n_labels: float) -> tuple[tuple[str, Any], ...]:
    """Return the members of a `Stacking` with ``estimators=None`` for ``n_labels`` labels."""
    return MEMBERS_FOR_FEW_LABELS if n_labels <= FEW_LABELS else MEMBERS
