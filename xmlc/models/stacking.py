"""The stacking estimator, a logistic regression over the scores of several models."""

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

#: The coefficients of a calibration that changes nothing: of the score, 1, and the two features of
#: the instance.
UNCALIBRATED = (1.0, 0.0, 0.0, 0.0)


# Each pair names a member of the ensemble and its estimator.
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
    """Combine the scores of several estimators by a logistic regression (stacked generalisation).

    The score of label j for instance x is z = w . f with features f and coefficients w. Some
    features are logarithms: log(s + 0.001) for the score s of each member, and the log of the share
    of instances with label j. The other features are the logit of the mean score, the constant 1,
    and all products of two logarithms. All labels share the same coefficients w.

    The estimate is sigmoid(a z + b + c best + d log(sum)), where *best* is the largest z of the
    instance, and *sum* is the expected number of its labels, the sum of sigmoid(z) over its
    candidates. These two features of the instance correct estimates that are too large for easy
    instances or too small for difficult ones. Because a is positive, they do not change the order
    of an instance's labels.

    The candidates are the labels that at least one member ranks among the member's ``n_candidates``
    best labels. Labels that are not candidates have the estimate 0. Both regressions are fitted to
    the candidates of held-out instances. After that, the members are trained again, on all
    instances, with the hyperparameters that the first training has selected.

    With a single member, stacking corrects the member's scores by the frequencies of the labels.

    Parameters
    ----------
    estimators : sequence of (str, estimator), or None
        Names and members, as for scikit-learn's ``StackingClassifier``. With None, the members
        depend on the number of labels. Above 256 labels they are ``swnn`` and ``plt``. Up to 256
        labels, one binary classifier for each label is fast and ranks better than a tree. The
        members are then ``swnn`` and two trees of depth 1, ``logistic`` and ``hinge``, which are
        one-vs-rest with the logistic and the squared hinge loss.

        A member is an estimator of `xmlc.models` or a name that `xmlc fit --estimator` accepts. A
        member may also be an estimator of scikit-learn, which `xmlc.models.wrapped.Wrapped` wraps.
        A name can have hyperparameters, as in ``("plt", {"plt": {"arity": 4}})``, which is also
        what `set_params` makes of ``plt__arity=4``. If the estimators are None, this call makes
        them ``swnn`` and ``plt`` for any number of labels. A member that is given by its name has
        the ``random_state`` of the stacking estimator unless its hyperparameters include one, and
        any other member has its own.
    n_held_out : int
        Number of held-out instances. At most a fifth of the training set is held out at a time. If
        this is fewer than ``n_held_out``, up to five parts are held out one after the other. With
        ``n_held_out=0`` or fewer than 30 instances, an estimate is the mean of the members' scores.
    n_candidates : int
        Number of labels that each member ranks.
    propensity_exponent : float
        `predict_top_k` and `rank_one` rank labels by estimate * (p_min / p)**propensity_exponent.
        Here p is the propensity of the label (`xmlc.metrics.propensities`), and p_min is the
        smallest propensity. With the exponent 0, labels rank by their estimates. Larger exponents
        favour rare labels.
    random_state : int
        Seed for the selection of held-out instances.
    n_jobs : int or None
        Number of threads of the stacking estimator and of its members. With None, each member keeps
        its own ``n_jobs``.

    Attributes
    ----------
    members_ : dict of str to estimator
        The fitted members by name.
    coefficients_ : ndarray of float64, shape (p,)
        The coefficients w of the features, in the order of `xmlc.models._stacked.features_of`.
    calibration_ : ndarray of float64, shape (4,)
        The coefficients a, b, c and d.
    log_shares_, propensities_ : ndarray of float64, shape (m,)
        For each label, the number log((c + 0.5) / n) and the propensity. Here c is the total weight
        of the instances with the label, and n is the total weight of all instances. The propensity
        does not depend on instance weights.
    inner_products_ : ndarray of int64, shape (n,), or None
        Number of inner products of all members in the last prediction. It is None if a member does
        not count inner products.

    Notes
    -----
    The method is from Wolpert, *Stacked generalization*, Neural Networks 5, 1992. With 10,000
    instances or more, training takes about twice the time that all members take together. With
    fewer instances it takes up to six times as long. Before the second training of the members,
    only one member is in memory at a time.

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
        """Train the members on a part of the data and the regression on the rest.

        Finally, train the members a second time, on all data.

        The instance weights in ``sample_weight`` apply to the training of the members and to the
        loss of the regression. Every member must accept ``sample_weight``. See
        `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        members = self.members(Y.shape[1])
        given = None if sample_weight is None else weights
        pairs = []
        for part, held_out in held_out_parts(X.shape[0], int(self.n_held_out), self.random_state):
            lists = []
            for member in members.values():
                first = member.unfitted()._fit_rows(X, Y, given, part)
                member.set_params(**first._selected())  # the choice of the first part is kept
                lists.append(first.predict_top_k(X[held_out], self._n_ranked()))
                del first  # a member may be large, so only one member is in memory at a time
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
        """Fit the regression and the calibration to the candidates of held-out instances."""
        # with coefficient 1 for the logit of the mean score, an estimate is the mean of the
        # members' scores
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
        """Return the k best candidates of each instance and their scores, best first.

        Ties go to the smaller label. If an instance has fewer than k candidates, the rest of its
        row is -1. The score of a label is the product of its estimate, (p_min /
        p)**propensity_exponent, and its label weight if given. A label of weight 0 is never a
        candidate.
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
        """Return the candidates' estimates that are above a threshold."""
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
        """Return the numbers of candidates of some instances, all candidates, and their estimates.

        ``every`` contains the lists of all labels, and ``lists`` those of the allowed labels. An
        estimate does not depend on which labels are allowed, so the features of an instance are
        computed from ``every``.
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
        """Return the numbers of candidates of some instances, all candidates, and their scores
        z.
        """
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
        """Return the factors by which `predict_top_k` favours rare labels, given the propensities
        of some labels.
        """
        relative = self.propensities_.min() / propensities
        return elementwise.power(relative, float(self.propensity_exponent)).astype(np.float32)

    def members(self, n_labels: float = math.inf) -> dict[str, SparseProbabilityEstimator]:
        """Return the untrained members for training data with ``n_labels`` labels, by name."""
        members = {name: self._member(given) for name, given in self._specified(n_labels)}
        self._set_threads(members)
        return members

    def _set_threads(self, members: Mapping[str, SparseProbabilityEstimator]) -> None:
        for member in members.values():
            if self.n_jobs is not None and "n_jobs" in member.get_params():
                member.set_params(n_jobs=self.n_jobs)

    def _specified(self, n_labels: float) -> Sequence[tuple[str, Any]]:
        """Return the names and members for training data with ``n_labels`` labels."""
        check_value(Stacking, "estimators", self.estimators)
        if self.estimators is None:
            return default_members(n_labels)
        return self.estimators

    def _member(self, given: Any) -> SparseProbabilityEstimator:
        """Return an untrained member with its own number of threads."""
        if isinstance(given, str | Mapping):
            kind, own = _kind_and_values(given)
            return make_estimator(kind, own, self.random_state)
        if isinstance(given, SparseProbabilityEstimator):
            return given.unfitted()
        from xmlc.models.wrapped import Wrapped

        return Wrapped(given).unfitted()  # the given estimator keeps its number of threads

    def get_params(self, deep: bool = True) -> Hyperparameters:
        """Return the hyperparameters.

        If ``deep`` is true, add the members' own hyperparameters as ``name__hyperparameter``. They
        include the ``random_state`` and ``n_jobs`` of a member only if the member does not get them
        from the stacking estimator.
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
        """Set hyperparameters.

        The key ``name__hyperparameter`` belongs to a hyperparameter of the member ``name``.

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
        """Set the hyperparameter ``name``, which begins with the name of a member."""
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
        super()._restore(arrays, {})  # `_read_parts` uses the description of the members

    def _write(self, folder: Path) -> None:
        super()._write(folder)
        for name, member in self.members_.items():
            if not (folder / name).exists():  # `fit_to_disk` may already have written the member
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
    """Return the name of a member's estimator and the member's hyperparameters.

    Raises
    ------
    InvalidParameterError
        A mapping has other than one key, or its value is not a mapping.
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
    """Return a member as a value for JSON: a name with or without hyperparameters, or the name of
    its class.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return dict(given)
    if type(given).__name__ == "Wrapped":
        given = given.estimator
    place = f"{type(given).__module__}:{type(given).__name__}"
    return registered_name(place)


def default_members(n_labels: float) -> tuple[tuple[str, Any], ...]:
    """Return the members of a `Stacking` with ``estimators=None`` that is trained on data with
    ``n_labels`` labels.
    """
    return MEMBERS_FOR_FEW_LABELS if n_labels <= FEW_LABELS else MEMBERS
