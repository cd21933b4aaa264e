"""Define the domains of `BinaryRelevance`. `ProbabilisticClassifierChain` has the same domains."""

from xmlc.kernels.domains import COMMON, POSITIVE, POSITIVE_OR_NONE, Ascending, Flag, whole

DOMAINS = {
    **COMMON,
    "C": POSITIVE_OR_NONE,
    "C_grid": Ascending(POSITIVE),
    "folds": whole(2, 10_000),
    "common": Flag(),
    "standardize": Flag(),
}
