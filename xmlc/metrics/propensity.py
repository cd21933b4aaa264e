"""Propensities: the probabilities that true labels were recorded (Jain et al., KDD 2016)."""

from __future__ import annotations

import re

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import Matrix, as_labels
from xmlc.kernels.domains import NOT_NEGATIVE, POSITIVE, check

# From (A, B) to datasets, in lower case, without separators and prefixes such as ``lf-``. `_OTHER`
# is for datasets outside Wikipedia and Amazon, and for these few with "wiki" or "amazon" in their
# name.
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
    1.5) for all others, and so do the extreme classification repository, pyxclib and napkinXC.
    WikiTitles counts as Wikipedia and AmazonTitles as Amazon, but AmazonCat, Wiki10 and WikiSeeAlso
    as others (issue 7 of pyxclib and the published configurations of DeepXML and DECAF). A dataset
    with label features (``lf-...``) has the values of the same dataset without them.

    Parameters
    ----------
    dataset_name : str
        Name in the extreme classification repository, PECOS, napkinXC or X-Transformer. Case,
        hyphens and other separators are ignored.

    Returns
    -------
    tuple of two float

    Raises
    ------
    XmlcError
        If the name contains "wiki" or "amazon" but is not known. For example, the values for the
        edition ``amazon-670k-attentionxml`` are not.

    See Also
    --------
    propensities : Takes A and B.

    Examples
    --------
    >>> from xmlc.metrics import propensity_parameters
    >>> propensity_parameters("amazon-670k")
    (0.6, 2.6)
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
    """Return the probability that a true label is recorded, for each label (Jain et al., KDD 2016).

    p_l = 1 / (1 + C exp(-A log(N_l + B))) with C = (log N - 1) (B + 1)^A, where N is the number of
    training instances, and N_l the number of those with label l.

    Parameters
    ----------
    Y_train : boolean CSR, shape (n, m)
    a, b : float
        A and B, from `propensity_parameters`.

    Returns
    -------
    ndarray of float64, shape (m,)

    Raises
    ------
    XmlcError
        If ``a`` is not a finite number of at least 0, or ``b`` is not a finite number above 0.

    See Also
    --------
    psp_at_k, psndcg_at_k : Measures with propensities.

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
    # With fewer than 3 training instances, log N is below 1, and propensities would exceed 1
    c = max(log(float(max(n_instances, 1))) - 1.0, 0.0) * power(b + 1.0, a)
    return 1.0 / (1.0 + c * elementwise.power(frequency + b, -a))


def checked_propensities(propensity: object, n_labels: int) -> np.ndarray:
    """Return propensities as float64 of shape (m,), or raise an `XmlcError` outside of (0, 1]."""
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
