"""Damage a model's folder on disk again and again, and load and use each, in a process of its own."""

import shutil
import sys
from pathlib import Path

import numpy as np
from hostile_cases import damage, good_pair, listed_anew

from xmlc.checksums import NAME
from xmlc.errors import XmlcError
from xmlc.models.registry import estimator_class

VARIANTS = {
    "plt": ("plt", {"epochs": 1, "arity": 2, "max_leaf": 2}),
    "plt-compact": ("plt", {"epochs": 1, "weight_cut": 0.01, "solver": "batch"}),
    "plt-hashed": ("plt", {"epochs": 1, "hash_bits": 8}),
    "parabel": ("parabel", {"n_trees": 2, "max_leaf": 2}),
    "fastxml": ("fastxml", {"n_trees": 3, "alpha": 0.8, "max_leaf": 4}),
    "ldsm": ("ldsm", {"n_trees": 3, "beta": 0.5, "max_nodes": 9}),
    "swnn": ("swnn", {"S": 5}),
    "swnn-tables": ("swnn", {"S": 5, "n_tables": 4, "bucket_bits": 3}),
    "br": ("br", {"C": 1.0}),
    "pcc": ("pcc", {"C": 1.0, "n_samples": 5}),
    "oplt": ("oplt", {"max_leaf": 3}),
    "oplt-complete": ("oplt", {"policy": "complete", "arity": 3}),
    "oplt-sets": ("oplt", {"policy": "cpet"}),
}


def run(variant, folder, times, seed):
    """Flip a bit, cut or lengthen a file; say what is about to be tried, and what came of it."""
    name, parameters = VARIANTS[variant]
    X, Y = good_pair(n=40, d=15, m=8)
    cls, whole = estimator_class(name), Path(folder) / "whole"
    model = cls(n_jobs=1, **parameters)
    if variant == "oplt-sets":
        model.progressive_sets(X, Y)
    else:
        model.fit(X, Y)
    model.save(whole)
    use(cls.load(whole), X, Y)
    files = sorted(file.name for file in whole.iterdir() if file.name != NAME)
    rng, refused = np.random.default_rng(seed), 0
    for number in range(times):
        copy = Path(folder) / "copy"
        shutil.copytree(whole, copy, dirs_exist_ok=True)
        file = copy / files[rng.integers(len(files))]
        what = damage(file, rng)
        listed_anew(copy)
        print(f"{number} {file.name}: {what}", flush=True)
        try:
            use(cls.load(copy), X, Y)
        except XmlcError as error:
            refused += 1
            if str(copy) not in str(error) and "expect" not in str(error):
                print(f"WRONG {number} {file.name}: {what}: {error}")
        except Exception as error:
            print(f"WRONG {number} {file.name}: {what}: {type(error).__name__}: {error}")
    print(f"{refused} refused")


def use(model, X, Y):
    """Predict with a model, as a step would."""
    with np.errstate(all="ignore"):
        model.predict_top_k(X, 3)
        model.predict_proba(X, 0.01)
        if hasattr(model, "partial_fit"):
            model.progressive_top_k(X, Y, 2)
            model.partial_fit(X, np.pad(Y.toarray(), ((0, 0), (2, 9))))  # labels that are new
            model.progressive_sets(X, Y)
            model.predict_top_k(X, 3)


run(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
