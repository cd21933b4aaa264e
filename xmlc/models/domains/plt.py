"""Domains of `PLT`, and of all label trees."""

from xmlc.kernels.domains import COMMON, EXCEPT_NONE, MANY, NOT_NEGATIVE, PASSES, POSITIVE, SOME, Flag, OneOf, whole

NODES = {
    **COMMON,
    "arity": whole(2, MANY),
    "max_leaf": whole(1, MANY),
    "loss": OneOf(("logistic", "squared_hinge")),
    "hinge_power": whole(1, 4),
    "C": POSITIVE,
    "tol": NOT_NEGATIVE,
    "epochs": whole(1, PASSES),
    "weight_cut": EXCEPT_NONE,
    "beam": whole(1, MANY, none=True),
    "unit_norm": Flag(),
}
DOMAINS = {
    **NODES,
    "tree": OneOf(("random", "huffman", "kmeans")),
    "solver": OneOf(("sgd", "adagrad", "batch")),
    "lam": EXCEPT_NONE,
    "gamma": POSITIVE,
    "eps": POSITIVE,
    "beam": whole(1, MANY),
    "search": OneOf(("certified", "beam", "exact")),
    "hash_bits": whole(1, 34, none=True),  # 2**34 weights are 64 GB
    "label_features": whole(1, MANY, none=True),
    "max_samples": SOME,
}
