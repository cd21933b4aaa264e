"""Define the domains of the hyperparameters of `SparseWeightedNearestNeighbors`."""

from xmlc.kernels.domains import COMMON, PASSES, NumberRange, whole

EXPONENT = NumberRange(0, 1e4)  # the search computes (1 + 1/4096)**exponent, which stays small up to exponent 1e4
DOMAINS = {
    "n_jobs": COMMON["n_jobs"],
    "S": whole(1, PASSES),
    "alpha": EXPONENT,
    "beta": NumberRange(0, EXPONENT.high, none=True),
}
