"""Define the domains of the hyperparameters of `BinaryRelevance`, which `ProbabilisticClassifierChain` also has."""

from xmlc.kernels.domains import COMMON, POSITIVE, POSITIVE_OR_NONE, Ascending, Flag, whole

DOMAINS = {
    **COMMON,
    "C": POSITIVE_OR_NONE,
    "C_grid": Ascending(POSITIVE),
    "folds": whole(2, 10_000),
    "common": Flag(),
    "standardize": Flag(),
}
