"""Posteriors and estimates of other programs under the interface of estimators."""

import numpy as np
import pytest
from command_line import rank_and_score, run
from facts import raises_with
from scipy import sparse
from small_data import random_multilabel, train

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, read_json, write_json
from xmlc.data.matrices import save_csr
from xmlc.data.writer import save_repository
from xmlc.models.oracle import Oracle, SavedEstimates
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.steps.prepare import prepare
from xmlc.suite.steps.prepared import Prepared


@pytest.fixture
def posteriors():
    return sparse.random_array(
        (20, 9), density=0.4, rng=np.random.default_rng(0), dtype=np.float32, format="csr"
    )


def test_thresholds_and_rankings_equal_dense_arithmetic(posteriors, multilabel):
    X, Y = multilabel(20, 4, 9)
    oracle = Oracle().fit(X, Y)
    oracle.use_posteriors(posteriors)
    dense = posteriors.toarray()
    for threshold in (0.5, np.linspace(0, 1, 9, dtype=np.float32)):
        expected = np.where(dense > threshold, dense, 0)
        np.testing.assert_array_equal(oracle.predict_proba(X, threshold).toarray(), expected)
    order = np.argsort(-dense, axis=1)[:, :6]
    expected = np.take_along_axis(dense, order, axis=1)
    labels, scores = oracle.predict_top_k(X, 6)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(labels, np.where(expected > 0, order, -1))
    assert (oracle.inner_products_ == 0).all()


def test_oracle_without_matching_posteriors_is_refused(posteriors, multilabel):
    X, Y = multilabel(20, 4, 9)
    oracle = Oracle().fit(X, Y)
    with pytest.raises(XmlcError):
        oracle.use_posteriors(None)
    with raises_with(XmlcError, "20"):
        oracle.predict_proba(X)
    oracle.use_posteriors(posteriors[:5])
    with raises_with(XmlcError, "20"):
        oracle.predict_top_k(X, 3)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Prepare a dataset with posteriors and files of them, in the form of another program's
    estimates.
    """
    folder = tmp_path_factory.mktemp("estimates")
    rng = np.random.default_rng(0)
    with atomic_folder(folder / "resources") as source:
        for seed, part in enumerate(("train", "test")):
            save_repository(source / f"{part}.txt", *random_multilabel(120, 20, 8, seed=seed))
            P = sparse.random_array((120, 8), density=0.5, rng=rng, dtype=np.float32, format="csr")
            save_csr(source, f"{part}.P", P)
        parts = {"train": ["train.txt"], "test": ["test.txt"]}
        write_json(source / "source.json", {"format": "repository"} | parts)
    data = folder / "data"
    prepare(Dataset("tiny"), folder / "resources", data)
    for seed in (0, 7):
        for part, name in (("val", "validation"), ("test", "test")):
            sparse.save_npz(folder / f"{name}-{seed}.npz", Prepared(data, seed).posteriors(part))
    return data


def records_of(out, data, estimator, **parameters):
    """Run the steps of a model, and return the scores in its records, and its costs of tuning."""
    about = train(out, data, estimator, "fit", estimator, 7, **parameters)
    assert run("estimate", *about, "--min-probability", "0.001", "--out", out / "spe") == 0
    assert run("thresholds", "fta", *about, "--estimates", out / "spe", "--out", out / "tuned") == 0
    train(out, data, estimator, "train", estimator, 7, **parameters)
    rank_and_score(*about[1::2], out / "ranking.json")
    fta = read_json(out / "tuned/fta.json")
    ranking = read_json(out / "ranking.json")
    return (fta["grid"], fta["best"], ranking["metrics"]), fta["costs"]


def test_estimates_in_files_give_the_same_records_as_a_model(tiny, tmp_path):
    files = {name: str(tiny.parent / f"{name}-{{seed}}.npz") for name in ("validation", "test")}
    of_model, _ = records_of(tmp_path / "model", tiny, "oracle")
    of_files, costs = records_of(tmp_path / "files", tiny, "estimates", **files)
    assert of_files == of_model
    # These numbers are unknown for another program.
    assert costs["test_ms_per_instance"] is None
    assert costs["test_inner_products_per_instance"] is None


def test_estimates_of_test_set_alone_work_with_any_seed(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").mkdir()
    rounded = Prepared(tiny).posteriors("test").astype(np.float64)
    rounded.data = rounded.data.round(2)
    sparse.save_npz(tmp_path / "scores/tiny.npz", rounded)
    X, _ = Prepared(tiny).part("test")
    for seed in (0, 7):
        model = SavedEstimates(test="scores/{dataset}.npz").fit(*Prepared(tiny, seed).part("fit"))
        model.look_up(Prepared(tiny, seed), "test")
        assert (model.predict_proba(X) != rounded.astype(np.float32)).nnz == 0
    with raises_with(XmlcError, "part val"):
        model.look_up(Prepared(tiny), "val")


def test_estimates_of_another_part_or_seed_are_refused(tiny, tmp_path):
    file = str(tiny.parent / "validation-0.npz")
    for given, seed, mentioned in (
        ({"test": file}, 0, ["part val", "validation"]),
        ({"validation": file}, 7, ["validation-0.npz", "seed 7", "{seed}"]),
        ({"validation": str(tiny.parent / "test-0.npz")}, 0, ["test-0.npz", "part val"]),
        ({"validation": str(tmp_path / "none.npz")}, 0, "none.npz"),
    ):
        with raises_with(XmlcError, mentioned):
            SavedEstimates(**given).look_up(Prepared(tiny, seed), "val")
