"""Test `xmlc infer` from estimates and samples: scores, times and time limits."""

import numpy as np
import pytest
from command_line import run
from facts import absent
from record_cases import estimates as estimates_file
from scipy import sparse
from small_data import prepare_tiny, train

from xmlc.core.checksums import list_files
from xmlc.core.files import read_json, write_json
from xmlc.data.matrices import load_csr, save_csr
from xmlc.inference import Samples, gfm, hamming, marginals_of
from xmlc.metrics import classification_metrics
from xmlc.suite.files import write_record
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
    """Write estimates above 0.2 as `xmlc estimate` does."""
    folder, data = tiny
    Y = Prepared(data).part("test")[1]
    rng = np.random.default_rng(1)
    spe = sparse.csr_array((0.6 * Y.toarray() + 0.4 * rng.random(Y.shape)).astype(np.float32))
    spe.data[spe.data <= 0.2] = 0
    spe.eliminate_zeros()
    (folder / "spe").mkdir()
    save_csr(folder / "spe", "test", spe)
    Y = Prepared(data).part("val")[1]
    save_csr(folder / "spe", "val", sparse.csr_array((0.3 * Y.toarray() + 0.05).astype(np.float32)))
    described = estimates_file(min_probability=0.2)
    described["parts"]["test"]["ms_per_instance"] = 0.5
    write_record(folder / "spe/estimate.json", described)
    list_files(folder / "spe")
    return folder / "spe"


def infer(tiny, trained, *arguments, source=None):
    """Infer from a model, or from estimates in the folder ``source``."""
    model, training = trained
    about = ("--data", tiny[1], "--from", source or model, "--training", training)
    return run("infer", *about, *arguments, "--out", tiny[0] / "inference")


def record(tiny, method):
    return read_json(tiny[0] / f"inference/{method}.json")


def test_label_sets_are_inferred_from_estimates_of_the_test_set(tiny, coins, estimates):
    methods = ("--method", "h", "--method", "gfm", "--method", "lewis")
    assert infer(tiny, coins, *methods, source=estimates) == 0
    for method in methods[1::2]:
        path = tiny[0] / f"inference/{method}.json"
        assert InferenceRecord.read(path).method == method
    spe = load_csr(estimates, "test")
    Y = Prepared(tiny[1]).part("test")[1]
    n = Y.shape[0]
    for method, infer_sets in (("h", hamming), ("gfm", gfm)):
        Y_hat, expected = infer_sets(spe)
        found = record(tiny, method)
        metrics = classification_metrics(Y, Y_hat)
        assert {name: found["metrics"][name] for name in metrics} == pytest.approx(metrics)
        assert found["expected_f"] == pytest.approx(expected.mean())
        assert (found["finished"], found["samples"]) == (True, None)
    missed = (Y.toarray() & (spe.toarray() == 0)).sum(axis=1)
    assert found["estimates"] == {
        "min_probability": 0.2,
        "estimates_per_instance": spe.nnz / n,
        "missed_per_instance": missed.sum() / n,
    }
    costs = found["costs"]
    assert costs["estimate_ms_per_instance"] == 0.5
    assert costs["draw_ms_per_instance"] is None
    seconds = n * (0.5 + costs["infer_ms_per_instance"]) / 1000
    assert costs["inference_seconds"] == pytest.approx(seconds)
    assert (found["step"]["name"], found["step"]["method"]) == ("infer", "gfm")

    # The loss by the minimum probability is bounded only for exact maximizers. By hand: min(mean
    # missed, 2 kappa) plus the mean of E[F] missed / (labels + 2), or E[F] missed without labels.
    assert record(tiny, "h")["truncation_loss"] is None
    sizes = Y_hat.toarray().sum(axis=1)
    linear = np.where(sizes > 0, expected * missed / (sizes + 2), expected * missed)
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


def test_method_that_runs_out_of_time_has_a_record_without_numbers(tiny, coins, estimates):
    assert infer(tiny, coins, "--method", "h", "--time-limit", 0, source=estimates) == 0
    found = InferenceRecord.read(tiny[0] / "inference/h.json")
    assert (found.finished, found.time_limit) == (False, 0)
    assert found.metrics is found.expected_f is found.costs.inference_seconds is None


def test_estimates_of_another_test_set_are_refused(tiny, coins, estimates, tmp_path, capsys):
    save_csr(tmp_path, "test", load_csr(estimates, "test")[:5])
    write_json(tmp_path / "estimate.json", read_json(estimates / "estimate.json"))
    list_files(tmp_path)
    assert infer(tiny, coins, "--method", "h", source=tmp_path) == 1
    assert absent(capsys.readouterr().err, "5 instances", "120") == []
