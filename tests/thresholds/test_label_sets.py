"""Label sets by measure: their methods, with and without labels, and warnings."""

import warnings

import numpy as np
import pytest
from facts import raises_with, warns_with
from scipy import sparse
from sklearn.base import clone

from xmlc import LabelSets, TextClassifier
from xmlc.core.errors import NotFittedError, XmlcError
from xmlc.inference import fit_size_weights, gfm, gfm_sizes, gfm_t, meuf
from xmlc.metrics import micro_f
from xmlc.thresholds import (
    CommonThreshold,
    ExpectedF,
    IsotonicCalibration,
    priors,
)

N = 400
M = 12


@pytest.fixture(scope="module")
def calibrated():
    """Return estimates, and label sets drawn from them with 1.5 labels on average."""
    rng = np.random.default_rng(0)
    p = (rng.random((N, M)) ** 4 * rng.random(M)).astype(np.float32)
    return sparse.csr_array(p), sparse.csr_array(rng.random((N, M)) < p)


def assert_same(found, expected):
    assert (found != expected).nnz == 0


def test_estimates_count_as_probabilities_without_labels(calibrated):
    spe, Y = calibrated
    prior = priors(Y)
    macro = LabelSets("macro_f").fit(spe, prior=prior)
    assert_same(macro.predict(spe), ExpectedF(prior=prior).fit(spe).predict(spe))
    micro = LabelSets("micro_f").fit(spe)
    assert_same(micro.predict(spe), spe > ExpectedF().fit(spe.data[:, None]).thresholds_[0])
    instance = LabelSets("instance_f").fit(spe)
    assert_same(instance.predict(spe), meuf(spe)[0])
    assert (macro.method_, micro.method_, instance.method_) == ("ExpectedF", "ExpectedF", "meuf")
    assert macro.thresholds_.shape == micro.thresholds_.shape == (M,)
    assert macro.calibration_ is None
    assert not hasattr(instance, "thresholds_")


def test_common_threshold_is_best():
    rng = np.random.default_rng(7)
    for _ in range(200):
        shape = rng.integers(1, 8, 2)
        spe = rng.random(shape) * (rng.random(shape) < rng.choice([0.2, 0.6, 1]))
        spe = sparse.csr_array(spe.astype(np.float32))
        prior = rng.random(shape[1]) ** rng.choice([0.3, 1, 3])
        micro = LabelSets("micro_f").fit(spe, prior=prior)
        estimates = np.sort(spe.data.astype(float))[::-1]
        positives = max(estimates.sum(), shape[0] * prior.sum())
        ratios = np.cumsum(estimates) / (positives + np.arange(1, estimates.size + 1))
        best = ratios.max(initial=0)
        clear = np.abs(spe.data - best) > 1e-7
        found = spe.data > micro.thresholds_[spe.indices]
        assert np.array_equal(found[clear], (spe.data > best)[clear])


def test_labels_calibrate_scores_that_are_no_probabilities(calibrated):
    spe, Y = calibrated
    low = spe.copy()
    low.data = (low.data**3 / 4).astype(np.float32)
    for prior in (None, priors(Y)):
        micro = LabelSets("micro_f").fit(low, Y, prior).predict(low)
        common = CommonThreshold().fit(low, Y).predict(low)
        assert micro_f(Y, micro) > micro_f(Y, common) - 0.02
        instance = LabelSets("instance_f").fit(low, Y, prior)
        transformed = instance.calibration_.transform(low)
        weights = fit_size_weights(transformed, Y)
        assert_same(instance.predict(low), gfm_sizes(transformed, weights)[0])
        assert instance.method_ == "gfm_sizes"
    macro = LabelSets("macro_f").fit(low, Y)
    transformed = IsotonicCalibration().fit(low, Y).transform(low)
    expected = ExpectedF(min_share=0.25).fit(transformed)
    np.testing.assert_array_equal(macro.thresholds_, expected.thresholds_)
    assert_same(macro.predict(low), expected.predict(transformed))


def test_calibration_groups_labels_by_magnitude_of_prior(calibrated):
    prior = np.repeat([0.5, 0.1, 0.09, 0.0], 3)
    groups = LabelSets().fit(*calibrated, prior).calibration_.groups
    assert np.array_equal(groups, np.repeat([9, 9, 8, 0], 3))


@pytest.mark.parametrize("measure", ["macro_f", "micro_f", "instance_f"])
@pytest.mark.parametrize("known", [False, True])
def test_low_sums_of_estimates_without_labels_cause_a_warning(calibrated, measure, known):
    spe, Y = calibrated
    low = 0.1 * spe
    prior = priors(Y) if known else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LabelSets(measure).fit(spe, prior=prior).predict(spe)
        LabelSets(measure).fit(low, Y, prior)
        LabelSets(measure).fit(low[:50], prior=prior)  # too few instances for a warning
    with warns_with(UserWarning, "IsotonicCalibration") as caught:
        LabelSets(measure).fit(low, prior=prior)
    assert len(caught) == 1


@pytest.mark.parametrize("infer", [meuf, gfm, gfm_t])
def test_inference_warns_if_marginals_sum_to_few_labels(calibrated, infer):
    with warns_with(UserWarning, "320 to inf"):
        infer(0.1 * calibrated[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gfm_sizes(0.1 * calibrated[0], [1.0, 1.0])  # The method fits weights of sizes.


def test_expected_f_warns_only_if_priors_are_given(calibrated):
    spe, Y = calibrated
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ExpectedF().fit(0.1 * spe)
        # The priors compensate for the smaller estimates.
        ExpectedF(prior=priors(Y)).fit(0.7 * spe)


def test_label_sets_follow_scikit_learn_and_refuse_invalid_input(calibrated):
    spe, Y = calibrated
    assert clone(LabelSets("micro_f")).get_params() == {"measure": "micro_f"}
    with raises_with(ValueError, "measure='macro'", "'macro_f', 'micro_f'"):
        LabelSets("macro").fit(spe)
    with raises_with(ValueError, "(400, 12)", "(399, 12)"):
        LabelSets().fit(spe, Y[:-1])
    with raises_with(XmlcError, "prior", "(1,)", "(12,)"):
        LabelSets().fit(spe, prior=[0.1])
    with raises_with(XmlcError, "11 labels", "12"):
        LabelSets("instance_f").fit(spe).predict(spe[:, :-1])
    none = sparse.csr_array((3, M), dtype=np.float32)
    for measure in ("macro_f", "micro_f", "instance_f"):
        assert LabelSets(measure).fit(none, prior=np.zeros(M)).predict(none).nnz == 0


def test_label_sets_are_not_fitted_if_the_size_weights_cannot_be_learned():
    method = LabelSets("instance_f")
    with pytest.raises(XmlcError):
        method.fit(np.empty((0, 2)), np.empty((0, 2)))
    with pytest.raises(NotFittedError):
        method.predict([[0.5, 0.5]])


def test_text_classifier_predicts_label_names_with_fitted_method():
    texts = ["boil rice", "fry onions", "prune roses", "boil onions"] * 3
    model = TextClassifier().fit(texts, [["cooking"], ["cooking"], ["garden"], ["cooking"]] * 3)
    method = LabelSets("micro_f").fit(model.predict_proba(texts))
    assert model.predict_sets(["roses"], method) == [["garden"]]
