"""Test the cost model, and the memory and minutes that jobs request."""

from pathlib import Path

import pytest
import yaml
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.models.domains.forests import GROWING_BYTES
from xmlc.models.registry import estimator_class
from xmlc.models.trees.representations import MOST_VALUES
from xmlc.suite.config import job_costs
from xmlc.suite.config.catalogue import Size, load_catalogue
from xmlc.suite.config.cost_model import (
    COLUMNS,
    KMEANS_BYTES,
    UNITS,
    USUAL,
    costs_of,
    fit,
    fitted,
    measured,
    predicted,
    variant_of,
)
from xmlc.suite.config.job_costs import (
    DEFAULTS,
    LONGEST,
    PROCESS,
    SHORTEST,
    cost_of,
    estimates_of_row,
    memory_mb,
    minutes,
    size_of,
)
from xmlc.suite.config.jobs import SPLITS
from xmlc.suite.config.ranges import MOST_VALIDATED

BIBTEX = {"n_train": 4880, "n_test": 2515, "d": 1836, "m": 159, "labels_per_instance": 2.4, "source": "x"}
SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {
    "plt": {},
    "hashed": {"estimator": "plt", "hyperparameters": {"hash_bits": 30}},
    "forest": {"estimator": "fastxml", "hyperparameters": {"n_trees": 10}},
    "mine": {"estimator": "mine.py:Mine"},
    "known": {"estimator": "mine.py:Mine", "memory": 2.5, "minutes": 7},
}
STEPS = ("synth", "prepare", "train", "rank", "estimate", "thresholds", "infer", "forest", "tune", "progressive")
TIB = {
    "n_train": 41902,
    "n_test": 6983,
    "n_features": 111663,
    "n_labels": 26296,
    "nonzeros": 92,
    "labels_per_instance": 2.6,
}
CATALOGUE = {"bibtex": {"published": BIBTEX}, "shape": {"synthetic": SHAPE}, "tib": {"synthetic": TIB}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("class Mine(Base): ...")
    return project_of(tmp_path / "config", {"threads": 8}, catalogue=CATALOGUE, a=suite(MODELS))


@pytest.mark.parametrize("step", STEPS)
def test_jobs_of_large_datasets_request_more_than_jobs_of_small_ones(project, step):
    small, large = ({"dataset": name, "model": "plt"} for name in ("bibtex", "shape"))
    assert memory_mb(project, step, large) > 2 * memory_mb(project, step, small) > PROCESS / 1e6
    assert LONGEST >= minutes(project, [step], large) > minutes(project, [step], small)


@pytest.mark.parametrize("estimator", measured())
@pytest.mark.parametrize("target", USUAL)
def test_fitted_cost_model_is_within_a_factor_of_5_and_never_falls_with_size(estimator, target):
    found = fitted(estimator, target)
    assert all(exponent >= 0 for exponent in found[1:])
    for row in measured()[estimator]:
        if row[target]:
            assert 0.2 < predicted(found, [float(row[name]) for name in COLUMNS]) / float(row[target]) < 5
        assert row["commit"]


def test_cost_model_of_one_row_has_default_exponents():
    row = dict.fromkeys(COLUMNS, "10") | {"seconds": "5"}
    found = fit([row], "seconds", forest=False)
    assert found[1:] == pytest.approx(USUAL["seconds"])
    assert predicted(found, [10.0] * len(COLUMNS)) == pytest.approx(5)
    assert fit([row | {"seconds": ""}], "seconds", forest=False) == ()


@pytest.mark.parametrize("name", UNITS)
def test_estimate_counts_trees_and_passes_of_the_estimator(name):
    usual = estimator_class(name)().get_params()
    assert variant_of(name, {}, 1000)[1] == UNITS[name] == (usual.get("n_trees") or usual["epochs"])


@pytest.mark.parametrize("name", ["fastxml", "ldsm", "parabel"])
def test_forest_needs_time_and_disk_of_all_trees_and_memory_of_one(name):
    one, many = (costs_of(Size(), 1e5, name, {"n_trees": n_trees}) for n_trees in (1, 50))
    assert many == pytest.approx((50 * one.seconds, one.peak_bytes, 50 * one.model_bytes, 50 * one.ranking_ms))


RANKING = {"solver": "batch", "loss": "squared_hinge", "hinge_power": 3, "tol": 0.03, "weight_threshold": 0.05}
ONE_TREE = {"n_trees": 1, "arity": 2}
# Measured trainings: share of the instances, seconds, bytes of memory, bytes on disk.
MEASURED = [
    ("plt", RANKING, "wiki10-31k", 1, (80, 1533e6, 439e6)),
    ("plt", RANKING, "amazoncat-13k", 1 / 4, (64, 1444e6, 773e6)),
    ("plt", RANKING, "amazon-670k", 1, (200, 2385e6, 2327e6)),
    ("plt", RANKING, "delicious-200k", 1 / 16, (165, 2755e6, 3184e6)),
    ("parabel", ONE_TREE, "amazon-670k", 1, (270, 2405e6, 2139e6)),
    ("parabel", ONE_TREE, "wikilshtc-325k", 1 / 4, (122, 1184e6, 2191e6)),
    ("fastxml", {"n_trees": 50}, "amazon-670k", 1, (2500, 468e6, 2650e6)),
    ("ldsm", {"n_trees": 1}, "wikilshtc-325k", 1 / 4, (51, 1985e6, 1304e6)),
    ("swnn", {}, "amazon-670k", 1, (3, 669e6, 462e6)),
]


@pytest.mark.parametrize(("estimator", "given", "name", "share", "found"), MEASURED)
def test_estimates_of_training_are_within_a_factor_of_2(estimator, given, name, share, found):
    size = load_catalogue(ROOT / "config/datasets.yaml")[name].size
    for cost, measured_cost in zip(costs_of(size, share * size.n_train, estimator, given), found, strict=False):
        assert measured_cost / 2 < cost < 2 * measured_cost


def test_estimates_include_trees_of_sweeps_and_rankings_of_searches(tmp_path):
    sweep = {
        "model": "forest",
        "hyperparameter": "max_nodes",
        "values": [2000, 2001],
        "hyperparameters": {"n_trees": 5},
    }
    models = {
        "forest": {"estimator": "ldsm", "hyperparameters": {"n_trees": 50}},
        "near": {"estimator": "swnn", "search": {"always": True, "stages": [[{"S": 1}, {"S": 2}]]}},
    }
    project = project_of(tmp_path, {"threads": 1}, catalogue=CATALOGUE, a=suite(models, sweeps={"nodes": sweep}))
    size = size_of(project, "tib")
    one = costs_of(size, size.n_train, "ldsm", {"n_trees": 5})
    found = cost_of(project, "sweep", {"dataset": "tib", "model": "forest", "paper": "a", "sweep": "nodes"})
    assert found.seconds == pytest.approx(2 * (one.seconds + size.n_test * one.ranking_ms / 1e3))
    assert found.disk == pytest.approx(one.model_bytes)
    one = costs_of(size, 0.8 * size.n_train, "swnn", {})
    found = cost_of(project, "tune", {"dataset": "tib", "model": "near"})
    assert found.seconds == pytest.approx(SPLITS * 2 * (one.seconds + MOST_VALIDATED * one.ranking_ms / 1e3))
    searched = project_of(tmp_path, {"tuning": {"method": "random", "budget": 7}}, catalogue=CATALOGUE, a=suite(models))
    assert cost_of(searched, "tune", {"dataset": "tib", "model": "forest"}).seconds > 7 * 40


def test_size_estimate_of_hashed_weights_is_table_size(project):
    held = cost_of(project, "train", {"dataset": "bibtex", "model": "hashed"})
    assert held.memory == pytest.approx(PROCESS + 2**32, rel=0.02)
    assert held.disk == 2**32


def test_predictions_hold_a_mapped_model_up_to_a_limit_and_the_whole_of_another(project, monkeypatch):
    size = size_of(project, "shape").bytes
    for limit in (1e8, 1e12):
        monkeypatch.setattr(job_costs, "MAPPED_BYTES", limit)
        for name in ("plt", "hashed", "mine"):
            job = {"dataset": "shape", "model": name}
            model = cost_of(project, "train", job).disk
            held = model if name == "mine" else min(limit, model)
            assert model > 1e8
            assert cost_of(project, "rank", job).memory == pytest.approx(PROCESS + size + held)


def test_large_trees_grow_in_limited_memory(tmp_path):
    catalogue = ROOT / "config/datasets.yaml"
    name = "wikilshtc-325k"
    models = {"ldsm": {"estimator": "ldsm", "hyperparameters": {"n_trees": 50}}}
    project = project_of(tmp_path, {"threads": 8}, catalogue=yaml.safe_load(catalogue.read_text()), a=suite(models))
    size = project.entry(name).size
    assert 1e9 < costs_of(size, size.n_train, "ldsm", {"n_trees": 1}).peak_bytes < GROWING_BYTES
    found = cost_of(project, "train", {"dataset": name, "model": "ldsm"}).memory
    assert found == pytest.approx(PROCESS + size.bytes + GROWING_BYTES)


@pytest.mark.parametrize(("estimator", "given"), [("parabel", {"n_trees": 1}), ("plt", {}), ("stacking", {})])
def test_a_tree_of_two_means_is_built_in_limited_memory(estimator, given):
    assert KMEANS_BYTES > 8 * MOST_VALUES  # a feature and a value of 4 bytes each
    size = load_catalogue(ROOT / "config/datasets.yaml")["delicious-200k"].size
    assert costs_of(size, size.n_train, estimator, given).peak_bytes <= KMEANS_BYTES + size.bytes


def test_costs_of_custom_estimator_have_a_default_and_can_be_configured(project):
    size = size_of(project, "shape").bytes
    mine, known = ({"dataset": "shape", "model": name} for name in ("mine", "known"))
    assert cost_of(project, "train", mine).memory == pytest.approx(PROCESS + 51 * size)
    assert cost_of(project, "train", known).memory == pytest.approx(PROCESS + 3.5 * size)
    assert minutes(project, ["train"], known) == minutes(project, ["train", "rank"], known) == 7


def test_a_job_of_several_steps_requests_their_time_and_one_minimum(project):
    job = {"dataset": "shape", "model": "plt"}
    train, rank, both = (minutes(project, steps, job) for steps in (["train"], ["rank"], ["train", "rank"]))
    assert max(train, rank) < both <= train + rank - SHORTEST + 1
    assert minutes(project, ["train"] * 10**5, job) == LONGEST


# Estimates per instance above 1/10000, measured on synthetic copies: n is the number of training instances.
MEASURED_ESTIMATES = [
    ("swnn", {}, "amazon-670k", 24523, 348),
    ("swnn", {}, "delicious-200k", 2458, 4829),
    ("swnn", {}, "wiki10-31k", 2830, 1150),
    ("swnn", {}, "wikilshtc-325k", 22230, 192),
    ("swnn", {}, "amazoncat-13k", 59312, 260),
    ("fastxml", {"n_trees": 5}, "amazon-670k", 24523, 184),
    ("fastxml", {"n_trees": 5}, "amazoncat-13k", 59312, 153),
    ("fastxml", {"n_trees": 5}, "delicious-200k", 2458, 352),
    ("fastxml", {"n_trees": 50}, "delicious-200k", 2458, 1199),
    ("fastxml", {"n_trees": 10}, "delicious-200k", 9830, 542),
    ("fastxml", {"n_trees": 5}, "wiki10-31k", 2830, 401),
    ("fastxml", {"n_trees": 50}, "wiki10-31k", 2830, 2153),
    ("fastxml", {"n_trees": 5}, "wikilshtc-325k", 22230, 111),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000}, "amazon-670k", 24523, 394),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000}, "amazoncat-13k", 59312, 791),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000}, "delicious-200k", 2458, 574),
    ("ldsm", {"n_trees": 50, "max_nodes": 2000}, "delicious-200k", 2458, 7408),
    ("ldsm", {"n_trees": 10, "max_nodes": 2000}, "delicious-200k", 9830, 7462),
    ("ldsm", {"n_trees": 1, "max_nodes": 125}, "delicious-200k", 9830, 10949),
    ("ldsm", {"n_trees": 25, "max_nodes": 125}, "delicious-200k", 9830, 103377),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000, "arity": 4}, "wiki10-31k", 2830, 603),
    ("ldsm", {"n_trees": 50, "max_nodes": 2000, "arity": 4}, "wiki10-31k", 2830, 5163),
    ("ldsm", {"n_trees": 3, "max_nodes": 2000}, "wikilshtc-325k", 22230, 206),
]


@pytest.mark.parametrize(("estimator", "given", "name", "n", "found"), MEASURED_ESTIMATES)
def test_number_of_estimates_is_within_a_factor_of_3(estimator, given, name, n, found):
    size = load_catalogue(ROOT / "config/datasets.yaml")[name].size
    assert found / 2 < estimates_of_row(size, n, 1e-4, estimator, given) < 3 * found


def test_number_of_estimates_is_limited_by_number_of_labels_and_minimum_probability():
    size = Size(m=670_091, labels_per_instance=5.45)
    for estimator in ("ldsm", "fastxml", "swnn", "stacking", "plt"):
        few = Size(m=14)
        assert 30 < estimates_of_row(size, 490_449, 0.01, estimator, {}) < 50
        assert estimates_of_row(few, 1e5, 1e-4, estimator, {}) == 14
    forest = {"n_trees": 50, "max_nodes": 2000}
    assert 3000 < estimates_of_row(size, 490_449, 1e-4, "ldsm", forest) < 5000
    assert estimates_of_row(size, 490_449, 1e-4, "plt", {}) == 60 * 5.45
    assert estimates_of_row(size, 490_449, 1e-4, "stacking", {}) == 2 * 50


@pytest.mark.parametrize("name", DEFAULTS)
def test_number_of_estimates_assumes_defaults_of_the_estimator(name):
    usual = estimator_class(name)().get_params()
    assert DEFAULTS[name] == {key: usual[key] for key in DEFAULTS[name]}


def test_dataset_of_unknown_size_gets_default_sizes(project):
    assert memory_mb(project, "prepare", {"dataset": "nobody-knows"}) > PROCESS / 1e6
    assert memory_mb(project, "simulate", {"paper": "a"}) == PROCESS / 1e6


def test_jobs_are_planned_despite_a_damaged_record(project):
    before = memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"})
    path = Path("results/bibtex/statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"}) == before
