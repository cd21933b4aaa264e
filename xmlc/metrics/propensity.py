"""Compute the propensity of each label, the probability that a true label was recorded (Jain et
al., KDD 2016).
"""

from __future__ import annotations

import re

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import Matrix, as_labels
from xmlc.kernels.domains import NOT_NEGATIVE, POSITIVE, check

# Maps each pair (A, B) to names of datasets, in lower case, without separators and prefixes such as
# ``lf-``. The pair `_OTHER` is for datasets outside Wikipedia and Amazon. A few datasets whose
# names contain "wiki" or "amazon" also use `_OTHER`.
_OTHER = (0.55, 1.5)
_PROPENSITY_PARAMETERS = {
    (
        0.5,
        0.4,
    ): "wikilshtc wikilshtc325k wiki500k wikipedia500k wikipedialarge wikipedialarge500k "
    "wikititles500k",
    (0.6, 2.6): "amazon amazon131k amazon670k amazon13m amazon3m"
    " amazontitles131k amazontitles670k amazontitles13m amazontitles25m amazontitles3m",
    _OTHER: "amazoncat amazoncat13k amazoncat14k wiki10 wiki1031k wiki31k wikipara3 wikipara5"
    " wikiseealso320k wikiseealso350k wikiseealsotitles320k wikiseealsotitles350k",
}
_KNOWN: dict[str, tuple[float, float]] = {}
for _values, _names in _PROPENSITY_PARAMETERS.items():
    _KNOWN |= dict.fromkeys(_names.split(), _values)


def propensity_parameters(dataset_name: str) -> tuple[float, float]:
    """Return (A, B) of the propensity model for a dataset name such as ``amazon-670k``.

    Jain et al. (KDD 2016) set (A, B) to (0.5, 0.4) for Wikipedia, (0.6, 2.6) for Amazon and (0.55,
    1.5) for all other datasets. The extreme classification repository, pyxclib and napkinXC use the
    same values of A and B. WikiTitles has the A and B of Wikipedia, and AmazonTitles the A and B of
    Amazon. For AmazonCat, Wiki10 and WikiSeeAlso, (A, B) is (0.55, 1.5) (issue 7 of pyxclib and the
    published configurations of DeepXML and DECAF). A dataset with label features (``lf-...``) has
    the values of the same dataset without label features.

    The function accepts the dataset names of the extreme classification repository, PECOS, napkinXC
    and X-Transformer. The function ignores case, hyphens and other separators in a name. For a name
    with neither "wiki" nor "amazon", the result is (0.55, 1.5).

    Raises
    ------
    XmlcError
        If the name contains "wiki" or "amazon" but is not one of the known names. For example, the
        values for the edition ``amazon-670k-attentionxml`` are not known.
    """
    name = re.sub(r"^g?lf|^mm(?=amazon)", "", re.sub(r"[^a-z0-9]", "", dataset_name.lower()))
    if name not in _KNOWN and ("amazon" in name or "wiki" in name):
        values = (
            "0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon, 0.55 and 1.5 for others such as "
            "AmazonCat"
        )
        places = (
            "`propensities`, `xmlc score --propensity`, or `propensity: [A, B]` in "
            "config/datasets.yaml"
        )
        remedy = f"Set A and B in {places}. Use {values}."
        raise InvalidDataError(
            f"dataset {dataset_name}: found no A and B for its propensities. {remedy}"
        )
    return _KNOWN.get(name, _OTHER)


def propensities(Y_train: Matrix, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    """Return each label's propensity, the probability that a true label is recorded (Jain et al.,
    KDD 2016).

    p_l = 1 / (1 + C exp(-A log(N_l + B))) with C = (log N - 1) (B + 1)^A. N is the number of
    training instances, N_l the number of training instances with label l, A is ``a``, and B is
    ``b``.

    Returns
    -------
    ndarray of float64, shape (m,)

    Raises
    ------
    XmlcError
        If ``a`` is not a finite number of at least 0, or ``b`` is not a finite number above 0.

    Examples
    --------
    >>> from xmlc.metrics import propensities
    >>> propensities([[1, 0, 0]] * 6 + [[0, 1, 0]] * 2).round(3)
    array([0.629, 0.527, 0.412])
    """
    from xmlc.kernels import elementwise
    from xmlc.kernels.float64 import log, power

    check("a", a, NOT_NEGATIVE)
    check("b", b, POSITIVE)
    Y_train = as_labels(Y_train)
    n_instances = Y_train.shape[0]
    frequency = np.bincount(Y_train.indices, minlength=Y_train.shape[1])
    # With fewer than 3 training instances, log N is below 1, and the "probabilities" would exceed
    # 1.
    c = max(log(float(max(n_instances, 1))) - 1.0, 0.0) * power(b + 1.0, a)
    return 1.0 / (1.0 + c * elementwise.power(frequency + b, -a))


def checked_propensities(propensity: object, n_labels: int) -> np.ndarray:
    """Return propensities as float64 of shape (m,), or raise an error if they are invalid.

    Raises
    ------
    XmlcError
        If the number of propensities is not m, or a propensity is not in (0, 1].
    """
    values = as_numbers(propensity, "propensity")
    if values.shape != (n_labels,):
        raise InvalidDataError(
            f"propensity: found shape {values.shape}, expected ({n_labels},), one per label"
        )
    wrong = np.flatnonzero(~((values > 0) & (values <= 1)))
    if wrong.size:
        found = values[wrong[0]]
        hint = ""
        if found > 1:
            hint = ". If these are inverse propensities, pass 1 / values."
        said = f"found {found:g} for label {wrong[0]}, expected a number above 0 and at most 1"
        raise InvalidDataError(f"propensity: {said}{hint}")
    return values
