"""Test `xmlc infer` from estimates and samples: scores, times and time limits."""

import numpy as np
import pytest
from command_line import run
from facts import absent
from scipy import sparse
from small_data import prepare_tiny, train

from xmlc.core.checksums import list_files
from xmlc.core.files import read_json, write_json
from xmlc.data.matrices import load_csr, save_csr
from xmlc.inference import Samples, gfm, hamming, marginals_of
from xmlc.metrics import classification_metrics
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.steps.prepared import Prepared

DRAWN = '''"""A model that draws every label with one probability, and can do nothing else."""

import numpy as np
from scipy import sparse
from xmlc.models.base import SparseProbabilityEstimator


class Coins(SparseProbabilityEstimator):
    def fit(self, X, Y):
        X, Y = self._training_data(X, Y)
        self.share_ = np.array([Y.nnz / (Y.shape[0] * Y.shape[1])])
        return self

    def sample(self, X, n_samples):
        shape = (X.shape[0] * n_samples, self.n_labels_)
        return sparse.csr_array(np.random.default_rng(0).random(shape) < self.share_[0])
'''


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("infer")
    (folder / "coins.py").write_text(DRAWN)
    return folder, prepare_tiny(folder)


@pytest.fixture(scope="module")
def coins(tiny):
    folder, data = tiny
    _, _, _, model, _, record = train(folder / "train", data, f"{folder / 'coins.py'}:Coins")
    return model, record


@pytest.fixture(scope="module")
def estimates(tiny):
    """Return a folder with a PLT's estimates above 0.2, and the record of its training."""
    folder, data = tiny
    about = train(folder / "plt", data, "plt", "fit")
    assert run("estimate", *about, "--min-probability", 0.2, "--out", folder / "spe") == 0
    return folder / "spe", about[-1]


def infer(tiny, basis, *arguments):
    """Infer from a model or estimates, and the record of their training."""
    source, training = basis
    about = ("--data", tiny[1], "--from", source, "--training", training)
    return run("infer", *about, *arguments, "--out", tiny[0] / "inference")


def record(tiny, method):
    return read_json(tiny[0] / f"inference/{method}.json")


def test_label_sets_are_inferred_from_estimates_of_the_test_set(tiny, estimates):
    methods = {"h": hamming, "gfm": gfm}
    assert infer(tiny, estimates, "--method", "h", "--method", "gfm", "--method", "lewis") == 0
    assert InferenceRecord.read(tiny[0] / "inference/lewis.json").method == "lewis"
    spe = load_csr(estimates[0], "test")
    Y = Prepared(tiny[1]).part("test")[1]
    n = Y.shape[0]
    for method, infer_sets in methods.items():
        Y_hat, expected = infer_sets(spe)
        found = record(tiny, method)
        metrics = classification_metrics(Y, Y_hat)
        assert {name: found["metrics"][name] for name in metrics} == pytest.approx(metrics)
        assert found["expected_f"] == pytest.approx(expected.mean())
        assert (found["finished"], found["samples"]) == (True, None)
    missed = (Y.toarray() & (spe.toarray() == 0)).sum(axis=1)
    assert missed.any()
    assert found["estimates"] == {
        "min_probability": 0.2,
        "estimates_per_instance": spe.nnz / n,
        "missed_per_instance": missed.sum() / n,
    }
    costs = found["costs"]
    ms = read_json(estimates[0] / "estimate.json")["parts"]["test"]["ms_per_instance"]
    assert (costs["estimate_ms_per_instance"], costs["draw_ms_per_instance"]) == (ms, None)
    seconds = n * (ms + costs["infer_ms_per_instance"]) / 1000
    assert costs["inference_seconds"] == pytest.approx(seconds)
    assert (found["step"]["name"], found["step"]["method"]) == ("infer", "gfm")

    # The loss by the minimum probability is bounded only for exact maximizers. By hand: min(mean
    # missed, 2 kappa) plus the mean of E[F] missed / (labels + 2), or E[F] min(missed, 1) without
    # labels.
    assert record(tiny, "h")["truncation_loss"] is None
    sizes = Y_hat.toarray().sum(axis=1)
    linear = np.where(sizes > 0, expected * missed / (sizes + 2), expected * (missed > 0))
    loss = min(missed.mean(), 0.4) + linear.mean()
    assert found["truncation_loss"] == pytest.approx(loss)


def test_method_of_no_suite_is_refused(tiny, coins, capsys):
    assert infer(tiny, coins, "--method", "gfm-sizes") == 1
    assert "gfm-sizes" in capsys.readouterr().err


def test_joint_methods_use_samples_and_others_use_their_means(tiny, coins):
    model, training = coins
    assert infer(tiny, coins, "--method", "h", "--method", "gfm", "--samples", 30) == 0
    Y = Prepared(tiny[1]).part("test")[1]
    share = np.load(model / "share_.npy")[0]
    drawn = np.random.default_rng(0).random((30 * Y.shape[0], Y.shape[1])) < share
    samples = Samples(sparse.csr_array(drawn), 30)
    for method, (Y_hat, expected) in (("gfm", gfm(samples)), ("h", hamming(marginals_of(samples)))):
        found = record(tiny, method)
        metrics = classification_metrics(Y, Y_hat)
        assert found["metrics"]["instance_f"] == pytest.approx(metrics["instance_f"])
        assert found["expected_f"] == pytest.approx(expected.mean())
        assert (found["samples"], found["estimates"], found["truncation_loss"]) == (30, None, None)
        assert found["costs"]["draw_ms_per_instance"] > 0
        assert found["costs"]["estimate_ms_per_instance"] is None
    assert read_json(training)["costs"].items() <= found["costs"].items()


def test_method_that_runs_out_of_time_has_a_record_without_numbers(tiny, estimates):
    assert infer(tiny, estimates, "--method", "h", "--time-limit", 0) == 0
    found = InferenceRecord.read(tiny[0] / "inference/h.json")
    assert (found.finished, found.time_limit) == (False, 0)
    assert found.metrics is found.expected_f is found.costs.inference_seconds is None


def test_estimates_of_another_test_set_are_refused(tiny, estimates, tmp_path, capsys):
    folder, training = estimates
    save_csr(tmp_path, "test", load_csr(folder, "test")[:5])
    write_json(tmp_path / "estimate.json", read_json(folder / "estimate.json"))
    list_files(tmp_path)
    assert infer(tiny, (tmp_path, training), "--method", "h") == 1
    assert absent(capsys.readouterr().err, "5 instances", "120") == []
