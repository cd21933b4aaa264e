"""Both searches: where they start, what they may try, and that a seed says it all."""

import pytest
from search_cases import FIRST, GIVEN, NEEDS_SMAC, SPACE, trials_of

from xmlc.errors import XmlcError
from xmlc.tuning.search import METHODS

EACH = [pytest.param(method, marks=NEEDS_SMAC if method == "smac" else ()) for method in METHODS]


@pytest.mark.parametrize("method", EACH)
def test_the_first_trial_is_what_was_given(method):
    trials = trials_of(method, 6)
    assert trials[0] == FIRST
    assert len(trials) == 6
    for name, values in SPACE.items():
        assert all(trial[name] in values for trial in trials), name
    assert trials_of(method, 1) == [FIRST]


@pytest.mark.parametrize("method", EACH)
@pytest.mark.parametrize("given", [{**GIVEN, "gamma": 11.0}, {**GIVEN, "epochs": 10.5}, {"gamma": 1.0}])
def test_what_lies_outside_the_space_is_no_trial(method, given):
    trials = trials_of(method, 3, given=given)
    assert len(trials) == 3
    assert given["gamma"] not in [trial["gamma"] for trial in trials]


@pytest.mark.parametrize("method", EACH)
def test_a_seed_repeats_a_search_and_another_does_not(method):
    trials = trials_of(method, 7, seed=3)
    assert trials_of(method, 7, seed=3) == trials
    assert trials_of(method, 7, seed=4)[1:] != trials[1:]


def test_a_longer_random_search_extends_a_shorter_one():
    assert trials_of("random", 20)[:8] == trials_of("random", 8)


@pytest.mark.parametrize(
    ("method", "budget", "seed", "message"),
    [
        ("grid", 3, 0, "expected one of random, smac"),
        ("random", 0, 0, "at least one"),
        pytest.param("smac", 2, 2**32, "seed", marks=NEEDS_SMAC),
    ],
)
def test_refusals(method, budget, seed, message):
    with pytest.raises(XmlcError, match=message):
        trials_of(method, budget, seed)
