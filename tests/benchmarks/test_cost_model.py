"""Test the formulas for costs that nobody measured, against measurements of other runs."""

import pytest
from repository import ROOT

from benchmarks.cost_model import (
    COLUMNS,
    DEFAULTS,
    UNITS,
    USUAL,
    Workload,
    costs_of,
    estimates_of_row,
    fitted,
    measured,
    predicted,
    variant_of,
)
from xmlc.models.registry import estimator_class
from xmlc.suite.config.catalogue import load_catalogue

SIZES = {name: entry.size for name, entry in load_catalogue(ROOT / "config/datasets.yaml").items()}


def work(size, estimator, given, n=1e5, min_probability=1e-4):
    return Workload(size, estimator, given, n, 1e4, 8, min_probability)


@pytest.mark.parametrize("estimator", measured())
def test_fit_is_within_a_factor_of_5_and_never_falls_with_size(estimator):
    for target in USUAL:
        found = fitted(estimator, target)
        assert all(exponent >= 0 for exponent in found[1:])
        for row in measured()[estimator]:
            if row[target]:
                shape = [float(row[name]) for name in COLUMNS]
                assert 0.2 < predicted(found, shape) / float(row[target]) < 5


def test_formulas_assume_defaults_of_the_estimators():
    for name, units in UNITS.items():
        usual = estimator_class(name)().get_params()
        assert variant_of(name, {}, 1000)[1] == units == (usual.get("n_trees") or usual["epochs"])
    for name, assumed in DEFAULTS.items():
        assert assumed.items() <= estimator_class(name)().get_params().items()


RANKING = {
    "solver": "batch",
    "loss": "squared_hinge",
    "hinge_power": 3,
    "tol": 0.03,
    "weight_threshold": 0.05,
}
# Measured trainings: share of the instances, seconds, bytes of memory, bytes on disk.
MEASURED = [
    ("plt", RANKING, "wiki10-31k", 1, (80, 1533e6, 439e6)),
    ("plt", RANKING, "delicious-200k", 1 / 16, (165, 2755e6, 3184e6)),
    ("parabel", {"n_trees": 1, "arity": 2}, "wikilshtc-325k", 1 / 4, (122, 1184e6, 2191e6)),
    ("fastxml", {"n_trees": 50}, "amazon-670k", 1, (2500, 468e6, 2650e6)),
    ("ldsm", {"n_trees": 1}, "wikilshtc-325k", 1 / 4, (51, 1985e6, 1304e6)),
    ("swnn", {}, "amazon-670k", 1, (3, 669e6, 462e6)),
]


@pytest.mark.parametrize(("estimator", "given", "name", "share", "found"), MEASURED)
def test_costs_of_training_are_within_a_factor_of_2(estimator, given, name, share, found):
    size = SIZES[name]
    costs = costs_of(size, share * size.n_train, estimator, given)
    for cost, measured_cost in zip(costs, found, strict=False):
        assert measured_cost / 2 < cost < 2 * measured_cost


# Estimates per instance above 1/10000, measured on synthetic copies with n training instances.
MEASURED_ESTIMATES = [
    ("swnn", {}, "amazon-670k", 24523, 348),
    ("swnn", {}, "delicious-200k", 2458, 4829),
    ("fastxml", {"n_trees": 5}, "amazon-670k", 24523, 184),
    ("fastxml", {"n_trees": 50}, "wiki10-31k", 2830, 2153),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000}, "amazoncat-13k", 59312, 791),
    ("ldsm", {"n_trees": 25, "max_nodes": 125}, "delicious-200k", 9830, 103377),
    ("ldsm", {"n_trees": 50, "max_nodes": 2000, "arity": 4}, "wiki10-31k", 2830, 5163),
]


@pytest.mark.parametrize(("estimator", "given", "name", "n", "found"), MEASURED_ESTIMATES)
def test_number_of_estimates_is_within_a_factor_of_3(estimator, given, name, n, found):
    assert found / 2 < estimates_of_row(work(SIZES[name], estimator, given, n)) < 3 * found
