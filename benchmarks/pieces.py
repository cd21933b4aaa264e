"""The tasks whose results are compared bit by bit, in groups that share kernels.

For the report of a difference, each task has the name of its estimator, method or function.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.data import load
from xmlc.data.synthetic.few_shot import ObjectViews, ShortTexts
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.data.writer import save_repository
from xmlc.inference import METHODS, fit_size_weights, infer_blocks, truncation_bound
from xmlc.kernels import elementwise, float64
from xmlc.kernels.csr import top_k_of
from xmlc.kernels.estimator import Hyperparameters
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import (
    classification_metrics,
    macro_f,
    maximum_precision_at_k,
    precision_and_ndcg,
    propensities,
    psp_at_k,
)
from xmlc.metrics.progressive import checkpoints, entropy_reduction, progressive_accuracy
from xmlc.models import (
    OPLT,
    PLT,
    BinaryRelevance,
    FastXML,
    LdSM,
    Parabel,
    ProbabilisticClassifierChain,
    SparseWeightedNearestNeighbors,
    Stacking,
)
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import LEARNERS, estimator_class
from xmlc.models.tail_classifiers import fit_tail_classifiers
from xmlc.models.trees.kmeans import kmeans_tree
from xmlc.models.trees.representations import label_representations
from xmlc.suite.config.ranges import Interval
from xmlc.suite.results.fingerprint import Fingerprint, fingerprint
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.simulate import MODELS, draw, exact_labels_by_size, simulate
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.fta import FTA
from xmlc.thresholds.methods import apply_thresholds
from xmlc.thresholds.sweeps import METHODS as TUNED
from xmlc.thresholds.sweeps import tune

K = 5
SEED = 7
# Marginals of 24 labels, for which `meuf_approx` would need more states than it uses
MANY_LABELS = ((np.arange(10)[:, None] * 37 + np.arange(24)[None, :] * 61) % 89) / 100
FEW = 30  # instances on which slow methods run
# Most training and test instances of a prepared dataset
ROWS = 1500
TEST_ROWS = 300
SYNTHETIC_ROWS = 500
SYNTHETIC_TEST_ROWS = 120
TREE: Hyperparameters = {
    "arity": 4,
    "max_leaf": 6,
    "epochs": 2,
    "lam": 1e-6,
    "C": 1.0,
    "weight_threshold": None,
}
HINGE: Hyperparameters = {
    "weight_threshold": 0.05,
    "solver": "batch",
    "loss": "squared_hinge",
    "hinge_power": 3,
}
IPLT: Hyperparameters = {"solver": "adagrad", "tree": "kmeans", "weight_threshold": None}
PARABEL: Hyperparameters = {
    "n_trees": 2,
    "max_leaf": 6,
    "hinge_power": 2,
    "tol": 0.1,
    "weight_threshold": 0.1,
}
# (alpha, beta) of SWNN: those in Table 6 of swnn2018, and some that are not whole numbers
EXPONENTS = (
    (0.0, 0.0),
    (0.5, 0.0),
    (1.0, 0.0),
    (2.0, 0.0),
    (1.0, 1.0),
    (2.0, 1.0),
    (1.7, 0.55),
    (3.0, 2.0),
)


class Data(NamedTuple):
    """A small dataset, with features of float32 and labels of bool in CSR.

    ``P_test``, float32 (n_test, m), has estimates for the test instances: true posteriors, or
    made-up values for the labels of other instances.
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array
    P_test: sparse.csr_array


# Parts of a task's result by name, see `benchmarks.bits.digest_of`
Parts = Mapping[str, object]
Run = Callable[[Data], Parts]


def synthetic_data() -> Data:
    """Return synthetic data, with the true posteriors as estimates."""
    model = SyntheticModel(
        n_features=300, n_labels=40, labels_per_instance=2.0, nonzeros=25, seed=1
    )
    X, Y, P = model.draw(0, SYNTHETIC_ROWS + SYNTHETIC_TEST_ROWS, 1)
    assert P is not None
    return Data(
        X[:SYNTHETIC_ROWS], Y[:SYNTHETIC_ROWS], *(part[SYNTHETIC_ROWS:] for part in (X, Y, P))
    )


def prepared_data(folder: Path) -> Data:
    """Return the first instances, with made-up estimates for a training instance's labels each."""
    (X, Y) = Prepared(folder).part("train")
    (X_test, Y_test) = Prepared(folder).part("test")
    n_test = min(TEST_ROWS, X_test.shape[0])
    others = Y[np.arange(n_test) % Y.shape[0]]
    values = ((np.arange(others.nnz) * 37 + others.indices) % 97 + 1).astype(
        np.float32
    ) / np.float32(128)
    P_test = sparse.csr_array((values, others.indices, others.indptr), shape=others.shape)
    return Data(X[:ROWS], Y[:ROWS], X_test[:n_test], Y_test[:n_test], P_test)


def estimator(kind: type[SparseProbabilityEstimator], **hyperparameters: object) -> Run:
    """Return a task that trains an estimator and predicts."""
    # At import, so that an unknown name raises an error at once
    template = kind().set_params(**hyperparameters)
    if "n_jobs" in template.get_params():
        template.set_params(n_jobs=1)

    def run(data: Data) -> Parts:
        model = template.unfitted().fit(data.X, data.Y)
        return {"learned": learned(model), **predictions(model, data)}

    return run


def learned(model: SparseProbabilityEstimator) -> Fingerprint:
    """Return the fingerprint of the arrays that an estimator saves."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return fingerprint(Path(folder) / "model")


def predictions(model: SparseProbabilityEstimator, data: Data) -> Parts:
    """Return estimates and rankings of the test instances."""
    return {
        "predict_proba": model.predict_proba(data.X_test, 0.001),
        "predict_top_k": model.predict_top_k(data.X_test, K),
    }


def _tree(**hyperparameters: object) -> PLT:
    return PLT(n_jobs=1).set_params(**TREE | hyperparameters)


def one_by_one(data: Data) -> Parts:
    """Rank single instances, as a server does."""
    X = data.X_test[:40]
    found = {}
    kinds: dict[str, Hyperparameters] = {
        "beam": {"search": "beam", "beam": 3},
        "small": {"weight_threshold": 0.02},
    }
    for name in ("exact", *kinds):
        model = _tree(tree="random", **kinds.get(name, {})).fit(data.X, data.Y)
        found[name] = [
            model.rank_one(X.indices[i:j], X.data[i:j], 5) for i, j in pairwise(X.indptr)
        ]
    return found


def above_thresholds(data: Data) -> Parts:
    """Predict estimates above label-wise thresholds."""
    model = _tree(tree="random").fit(data.X, data.Y)
    return {
        "predict_proba": model.predict_proba(data.X_test, np.linspace(0.02, 0.4, data.Y.shape[1]))
    }


TREES: dict[str, Run] = {
    "PLT sgd, k-means tree": estimator(PLT, **TREE, solver="sgd", tree="kmeans"),
    "PLT sgd, beam": estimator(PLT, **TREE, solver="sgd", tree="random", search="beam", beam=3),
    "PLT sgd, hashed weights": estimator(PLT, **TREE, solver="sgd", tree="random", hash_bits=14),
    "PLT sgd, not unit length": estimator(
        PLT, **TREE, solver="sgd", tree="random", unit_norm=False
    ),
    "PLT adagrad, random tree": estimator(PLT, **TREE, solver="adagrad", tree="random"),
    "IPLT (PLT adagrad, k-means tree)": estimator(PLT, **IPLT, arity=2, max_leaf=6, epochs=1),
    "PLT batch, logistic loss": estimator(
        PLT, **TREE, solver="batch", loss="logistic", tree="random"
    ),
    "PLT batch, squared hinge loss": estimator(
        PLT, **TREE | HINGE, tree="kmeans", search="beam", beam=5
    ),
    "PLT without small weights": estimator(PLT, **TREE | {"weight_threshold": 0.02}, tree="random"),
    "PLT, thresholds by label": above_thresholds,
    "PLT, one instance at a time": one_by_one,
    "Parabel": estimator(Parabel, **PARABEL, arity=2, epochs=3, beam=4),
    "Parabel, logistic loss": estimator(Parabel, **PARABEL, arity=4, epochs=3, loss="logistic"),
}


def tail(data: Data) -> Parts:
    """Fit tail classifiers, and re-rank with them."""
    forest = FastXML(gamma=3.0, alpha=0.7)
    forest.tail_ = fit_tail_classifiers(data.X, data.Y, unit_norm=True, n_jobs=1)
    forest.label_weights_ = np.ones(data.Y.shape[1], dtype=np.float32)
    return {
        "learned": forest.tail_._asdict(),
        "log_scores": forest.tail_.log_scores(data.X_test, data.P_test, 3.0, True, 1),
        "rerank": forest._rerank(data.X_test, data.P_test.copy()),
    }


LDSM: dict[str, Any] = {"n_trees": 2, "max_nodes": 40, "epochs": 3, "learning_rate": 0.1}
FORESTS: dict[str, Run] = {
    "FastXML": estimator(FastXML, n_trees=3, max_leaf=5),
    "FastXML, rows of unit length": estimator(FastXML, n_trees=2, max_leaf=5, unit_norm=True),
    "PfastreXML": estimator(FastXML, n_trees=2, max_leaf=5, propensity_weighted=True, alpha=0.8),
    "LdSM nag": estimator(LdSM, **LDSM, shares="labels"),
    "LdSM nag, 4-ary, shares of instances": estimator(
        LdSM, **LDSM, arity=4, initial_weights="uniform", unit_norm=True
    ),
    "LdSM sgd, standardised": estimator(
        LdSM, **LDSM, optimizer="sgd", ties="first", shares="labels"
    ),
    "LdSM, re-ranked": estimator(LdSM, **LDSM, beta=0.7, gamma=1.0, shares="labels"),
    "tail classifiers": tail,
    "Stacking": estimator(
        Stacking, n_held_out=100, n_candidates=10, plt__arity=4, plt__epochs=2, swnn__S=20
    ),
    **{
        f"SWNN alpha={alpha:g} beta={beta:g}": estimator(
            SparseWeightedNearestNeighbors, S=20, alpha=alpha, beta=beta
        )
        for alpha, beta in EXPONENTS
    },
}


def stream(data: Data) -> Parts:
    """Train on a stream in two parts, with progressive validation."""
    half = data.X.shape[0] // 2
    model = OPLT(n_jobs=1).partial_fit(data.X[:half], data.Y[:half])
    ranked = model.progressive_top_k(data.X[half:], data.Y[half:], 3)
    truth = data.Y[half:]
    at = checkpoints(truth.shape[0])
    accuracy = progressive_accuracy(truth, ranked[0], at)
    predicted = model.predict_proba(data.X[half:], 0.2).astype(bool)
    return {
        "learned": learned(model),
        "progressive_top_k": ranked,
        **predictions(model, data),
        "curves": [at, accuracy, entropy_reduction(accuracy, 0.05)],
        "macro_f": macro_f(truth, predicted),
    }


ONLINE: dict[str, Run] = {
    "OPLT best-greedy": estimator(OPLT, policy="best_greedy", max_leaf=6, epochs=2),
    "OPLT best-greedy, as printed": estimator(
        OPLT, policy="best_greedy", balance="printed", alpha=0.6, arity=3
    ),
    "OPLT random": estimator(OPLT, policy="random", arity=4, unit_norm=False),
    "OPLT of the program's growth": estimator(
        OPLT, growth="program", policy="best_greedy", arity=3, max_leaf=6
    ),
    "OPLT warm start": estimator(OPLT, policy="best_greedy", max_leaf=6, warm_start=0.3),
    "OPLT stream": stream,
}


def chain(data: Data) -> Parts:
    """Train a classifier chain and draw samples."""
    model = ProbabilisticClassifierChain(n_samples=50, C=1.0, n_jobs=1).fit(data.X, data.Y)
    samples = model.sample(data.X_test[:30])
    return {"learned": learned(model), "samples": samples, **predictions(model, data)}


LINEAR: dict[str, Run] = {
    "BR": estimator(BinaryRelevance, C=1.0),
    "BR, C chosen": estimator(BinaryRelevance, C_grid=(0.1, 1.0), folds=2),
    "PCC": chain,
    # Estimators that this file does not import have default settings
    **{
        name: estimator(kind)
        for name in LEARNERS
        if (kind := estimator_class(name)).__name__ not in globals()
    },
}


def tuned(method: str) -> Run:
    """Return a task that tunes thresholds and predicts."""

    def run(data: Data) -> Parts:
        found = tune(method, data.P_test, data.Y_test, priors(data.Y))
        grid = np.array([(point.c, point.a, point.b) for point in found.grid])
        if grid.dtype == object:
            grid = grid.astype(np.float64)  # None becomes NaN
        scores = []
        for point in found.grid:
            scores.append([score for _, score in sorted(point.validation.items())])
        Y_hat = apply_thresholds(data.P_test, found.thresholds)
        return {
            "thresholds": found.thresholds,
            "grid": grid,
            "scores": np.array(scores),
            "predicted": Y_hat,
        }

    return run


def fixed(data: Data) -> Parts:
    """Fit common and label-wise thresholds by `FTA`."""
    methods = {"common": FTA(), "label_wise": FTA(label_wise=True)}
    return {
        name: method.fit(data.P_test, data.Y_test).thresholds_ for name, method in methods.items()
    }


def inferred(method: str) -> Run:
    """Return a task that infers label sets from estimates, samples and joint probabilities."""

    def run(data: Data) -> Parts:
        few = data.P_test[:FEW]
        weights = None
        if METHODS[method].takes_sizes:
            weights = fit_size_weights(data.P_test, data.Y_test)
        result: dict[str, object] = {"size_weights": weights}
        if weights is None:
            result = {}
        result["from_estimates"] = infer_blocks(method, few, 1, size_weights=weights)
        samples = draw(MODELS["dependent-signed"](8), 40, FEW, seed=3, stream=5)
        result["from_many_labels"] = infer_blocks(method, MANY_LABELS, 1, size_weights=weights)
        result["from_samples"] = infer_blocks(method, samples, 1, size_weights=weights)
        if METHODS[method].takes == "joint":
            result["from_sizes"] = infer_blocks(
                method, exact_labels_by_size(MODELS["dependent-signed"](8)), 1
            )
        return result

    return run


def distributions(data: Data) -> Parts:
    """Compute joint distributions, and the bound on the loss of a minimum probability."""
    few = data.P_test[:FEW]
    Y_hat, expected = infer_blocks("meuf", few, 1) or (sparse.csr_array((0, 0)), np.empty(0))
    return {
        "of_a_chain": [tuple(exact_labels_by_size(model(9))) for model in MODELS.values()],
        "truncation_bound": truncation_bound(Y_hat, expected, 0.01, 0.001),
    }


def simulated(data: Data) -> Parts:
    """Infer label sets from gfm2011's simulated models."""
    found = simulate(seed=1, n_trials=3, sample_sizes=(5, 20), m=8, n_jobs=1)
    return {name: _numbers(model) for name, model in found.items()}


def _numbers(content: object) -> object:
    if isinstance(content, dict):
        return {k: _numbers(v) for k, v in content.items()}
    return np.asarray(content)


LABEL_SETS: dict[str, Run] = {
    **{f"thresholds {method}": tuned(method) for method in TUNED},
    "thresholds FTA itself": fixed,
    **{f"inference {method}": inferred(method) for method in METHODS},
    "distributions of label sets": distributions,
    "simulation": simulated,
}


def elementary(data: Data) -> Parts:
    """Compute xmlc's elementary functions, which replace NumPy's."""
    x = np.linspace(-30.0, 30.0, 5003)
    positive = np.abs(x) + 1e-9
    return {
        "exp": elementwise.exp(x),
        "log": elementwise.log(positive),
        "log1p": np.array([float64.log1p(v) for v in positive.tolist()]),
        "log2": elementwise.log2(positive),
        "sigmoid": elementwise.sigmoid(x),
        "power": [elementwise.power(positive, y) for y in (-1.3, 0.55, 1.5, 2.0)],
        "cos": np.array([float64.cos(v) for v in x.tolist()]),
    }


def synthetic(data: Data) -> Parts:
    """Draw instances with several labels each."""
    return {"drawn": SyntheticModel(500, 80, 2.5, 30, seed=SEED).draw(0, 300, 1)}


def few_shot(data: Data) -> Parts:
    """Draw few instances with one label each."""
    views = ObjectViews(64, 30, seed=SEED).draw(0, 400, 1)
    texts = ShortTexts(600, 50, seed=SEED).draw(0, 300, 1)
    return {"views": views[:2], "texts": texts[:2]}


def metrics(data: Data) -> Parts:
    """Compute the metrics of label sets and of a ranking."""
    labels, _ = top_k_of(data.P_test, 5)
    scores = classification_metrics(data.Y_test, data.P_test > 0.2)
    ranking = precision_and_ndcg(data.Y_test, labels)
    propensity = propensities(data.Y, 0.55, 1.5)
    return {
        "classification": {name: np.float64(value) for name, value in scores.items()},
        "ranking": {name: np.float64(value) for name, value in ranking.items()},
        "propensities": propensity,
        "psp": [np.float64(psp_at_k(data.Y_test, labels, propensity, k)) for k in (1, 3, 5)],
        "maximum": [np.float64(maximum_precision_at_k(data.Y_test, k)) for k in (1, 3, 5)],
    }


def label_tree(data: Data) -> Parts:
    """Build a tree by 2-means from label representations."""
    representations = label_representations(data.X, data.Y, 1)
    tree = kmeans_tree(representations, 4, 3, SEED, 1)
    return {
        "unit_rows": unit_rows(data.X),
        "representations": representations,
        "tree": [tree.children, tree.label],
    }


def text(data: Data) -> Parts:
    """Write a dataset as text and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.txt"
        save_repository(file, data.X, data.Y)
        return {"file": np.frombuffer(file.read_bytes(), dtype=np.uint8), "read": load(file)}


def ranges(data: Data) -> Parts:
    """Compute values of logarithmic and linear ranges."""
    logarithmic = Interval(low=1e-6, high=1.0, log=True)
    plain = Interval(low=0.1, high=3.0)
    at = (np.arange(200) + 0.5) / 200
    return {
        "logarithmic": [logarithmic.at(u) for u in at.tolist()],
        "plain": [plain.at(u) for u in at.tolist()],
    }


NUMBERS: dict[str, Run] = {
    "elementary functions": elementary,
    "synthetic data": synthetic,
    "few-shot data": few_shot,
    "metrics": metrics,
    "k-means tree": label_tree,
    "data as text": text,
    "ranges of hyperparameters": ranges,
}

# A group runs in one process, so that its kernels are compiled only once
GROUPS = {
    "trees": TREES,
    "forests": FORESTS,
    "online": ONLINE,
    "linear": LINEAR,
    "label_sets": LABEL_SETS,
    "numbers": NUMBERS,
}
# Groups that also run on real datasets
ON_ESTIMATORS = ("trees", "forests", "online", "linear")
