"""Memory and minutes that jobs request."""

from pathlib import Path

import pytest
from suite_cases import project_of, suite

from xmlc.core.memory import machine_memory
from xmlc.suite.config.laws import COLUMNS, SHAPES, USUAL, Size, fit, fitted, logarithms, measured, value
from xmlc.suite.config.resources import LONGEST, PROCESS, estimates_of_row, memory_mb, minutes, size_of, taken

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
# Peaks of training on tib-core-26k in MB, without the data and compiled kernels.
NAPKINXC = "benchmarks/peers/napkinxc_trees.py:NapkinXCOPLT"
PEAKS = {"plt": 135, "swnn": 94, "oplt": 684, "parabel": 273, NAPKINXC: 10338}
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
def test_a_large_set_requests_more_than_a_small_one(project, step):
    small, large = ({"dataset": name, "model": "plt"} for name in ("bibtex", "shape"))
    assert memory_mb(project, step, large) > 2 * memory_mb(project, step, small) > PROCESS / 1e6
    assert LONGEST >= minutes(project, step, large) > minutes(project, step, small)


@pytest.mark.parametrize("estimator", measured())
@pytest.mark.parametrize("target", USUAL)
def test_a_law_is_near_its_rows_and_grows_with_the_shape(estimator, target):
    law = fitted(estimator, target)
    assert all(exponent >= 0 for exponent in law[1:])
    for row in measured()[estimator]:
        if row[target]:
            foretold = value(law, logarithms(*(float(row[name]) for name in COLUMNS)))
            assert 0.2 < foretold / float(row[target]) < 5


def test_one_row_gives_the_scale_and_the_usual_exponents():
    row = dict.fromkeys(COLUMNS, "10") | {"seconds": "5"}
    law = fit([row], "seconds", forest=False)
    assert law[1:] == pytest.approx(USUAL["seconds"])
    assert value(law, logarithms(*[10.0] * len(COLUMNS))) == pytest.approx(5)
    assert fit([row | {"seconds": ""}], "seconds", forest=False) == ()


def test_each_row_names_the_commit_that_it_was_measured_at():
    lines = SHAPES.read_text().splitlines()
    assert lines[0].split(",")[-1] == "commit"
    assert all(line.split(",")[-1] for line in lines)


@pytest.mark.parametrize(("estimator", "peak"), PEAKS.items())
def test_training_takes_less_than_the_bound(project, tmp_path, estimator, peak):
    given = {"plt": {"tree": "random", "weight_cut": None}, "parabel": {"arity": 2}}.get(estimator, {})
    model = {"estimator": estimator, "hyperparameters": given, "optional": True}
    other = project_of(tmp_path / "other", {"tuning": None}, catalogue=CATALOGUE, a=suite({"one": model}))
    assert peak < memory_mb(other, "train", {"dataset": "tib", "model": "one"}) - PROCESS / 1e6 < 4 * peak + 200


def test_hashed_weights_have_the_size_of_their_table(project):
    held = taken(project, "train", {"dataset": "bibtex", "model": "hashed"})
    assert held.memory == pytest.approx(PROCESS + 2**32, rel=0.02)
    assert held.disk == 2**32


def test_an_estimator_of_the_users_own_has_a_default_and_two_keys(project):
    size = size_of(project, "shape").bytes
    mine, known = ({"dataset": "shape", "model": name} for name in ("mine", "known"))
    assert taken(project, "train", mine).memory == pytest.approx(PROCESS + 51 * size)
    assert taken(project, "train", known).memory == pytest.approx(PROCESS + 3.5 * size)
    assert minutes(project, "train", known) == 7


def test_thresholds_request_memory_for_the_estimates_above_the_floor():
    size = Size(m=670_091, labels_per_instance=5.45)
    for estimator in ("ldsm", "plt"):
        assert 30 < estimates_of_row(size, 0.01, estimator) < 50
        assert estimates_of_row(Size(m=14), 1e-4, estimator) == 14
    assert 3000 < estimates_of_row(size, 1e-4, "ldsm") < 5000
    assert estimates_of_row(size, 1e-4, "plt") == 60 * 5.45


def test_a_set_that_nobody_knows_has_common_sizes(project):
    assert memory_mb(project, "prepare", {"dataset": "nobody-knows"}) > PROCESS / 1e6
    assert memory_mb(project, "simulate", {"paper": "a"}) == PROCESS / 1e6


def test_a_damaged_record_does_not_keep_jobs_from_being_planned(project):
    before = memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"})
    path = Path("results/bibtex/statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"}) == before


@pytest.mark.parametrize(
    ("own", "file"),
    [
        ("0::/user.slice/job_7/step", "user.slice/job_7/memory.max"),
        ("12:cpu:/x\n4:memory:/user.slice/job_7", "memory/user.slice/job_7/memory.limit_in_bytes"),
        ("0::/of/the/host", "memory.max"),  # in a container
    ],
)
def test_memory_is_that_of_the_control_groups_above_the_process(tmp_path, own, file):
    (tmp_path / "cgroup").write_text(own + "\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") == machine_memory(tmp_path / "none")
    group = tmp_path / "groups" / file
    group.parent.mkdir(parents=True)
    group.write_text("123456\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") == 123456
    group.write_text("max\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") > 1e8
