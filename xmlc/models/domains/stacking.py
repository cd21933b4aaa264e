"""Domains of `Stacking`."""

from xmlc.kernels.domains import COMMON, MANY, Number, whole

DOMAINS = {
    **COMMON,
    "n_held_out": whole(0, MANY),
    "n_candidates": whole(1, MANY),
    "propensity_exponent": Number(0, 10),
}
