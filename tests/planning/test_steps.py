"""What each step takes."""

from dataclasses import replace

import pytest
from planning_cases import LARGE, SIZES, SMALL, larger

from xmlc.planning.steps import MARGIN, START, STEPS, Job, costs

PLT = Job(shape=SMALL, estimator="plt", hyperparameters={"tree": "random"}, fit_share=0.8)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("size", SIZES)
def test_no_step_takes_less_as_a_size_grows(step, size):
    small, large = costs(step, PLT), costs(step, replace(PLT, shape=larger(SMALL, size)))
    assert large.bytes >= 0.999 * small.bytes
    assert large.seconds >= 0.999 * small.seconds


@pytest.mark.parametrize("step", [step for step in STEPS if step != "simulate"])
def test_a_large_set_takes_more(step):
    small, large = costs(step, PLT), costs(step, replace(PLT, shape=LARGE))
    assert large.bytes > 2 * small.bytes
    assert large.seconds > small.seconds


def test_what_is_known_takes_the_place_of_what_is_expected():
    known = replace(PLT, model_bytes=1e9, estimate_bytes=0.0)
    assert costs("rank", known).bytes - costs("rank", replace(known, model_bytes=0.0)).bytes == 1e9
    assert costs("estimate", known).bytes < costs("estimate", replace(known, estimate_bytes=1e9)).bytes


def test_steps_of_one_job_start_once_and_need_the_largest_memory():
    rank, estimate, both = (costs(step, PLT) for step in ("rank", "estimate", "rank+estimate"))
    assert both.bytes == max(rank.bytes, estimate.bytes)
    assert both.seconds == pytest.approx(rank.seconds + estimate.seconds - MARGIN * START)


def test_methods_trees_and_trials_count():
    assert costs("thresholds", replace(PLT, methods=("sto", "ofo"))).seconds > costs("thresholds", PLT).seconds
    forest = Job(shape=LARGE, estimator="fastxml")
    assert costs("train", replace(forest, trees=0.1)).bytes < costs("train", forest).bytes
    tried = replace(PLT, trials=({"epochs": 10}, {"epochs": 30}))
    assert costs("tune", tried).seconds > costs("tune", replace(tried, trials=tried.trials[:1])).seconds
