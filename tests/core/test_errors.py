"""A suggestion cannot be mistaken for the list of all valid values."""

import re

import pytest
from facts import absent, raises_with

from xmlc.core.errors import XmlcError, nearest
from xmlc.models import PLT, Stacking
from xmlc.models.registry import ESTIMATORS, make_estimator
from xmlc.thresholds import tune


def n_left_out(text):
    """Return N of the words "and N more" at the end of a text, or 0."""
    found = re.search(r"and (\d+) more$", text)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("name", ["pltt", "PLT2", "fastxlm"])
def test_similar_names_come_with_the_number_of_other_names(name):
    suggested = nearest(name, ESTIMATORS)
    mentioned = [each for each in ESTIMATORS if not absent(suggested, each)]
    assert 0 < len(mentioned) <= 3
    assert n_left_out(suggested) == len(ESTIMATORS) - len(mentioned)


def test_complete_list_leaves_out_nothing():
    assert nearest("qqq", ["b", "a"]) == "a or b"
    assert nearest("smal", ["large", "small"]) == "small or large"
    assert nearest("qqq", ["b", "a", "d", "c"]) == "one of a, b, c, d"
    assert nearest("aa", ["a"]) == "a"
    assert nearest("a", []) == ""


def test_long_list_is_cut_and_says_so():
    suggested = nearest("zzz", [f"n{i}" for i in range(100)])
    assert len(suggested) < 150
    assert n_left_out(suggested) == 80


@pytest.mark.parametrize(
    ("name", "meant"),
    [("onevsrestclasifier", "OneVsRestClassifier"), ("c", "C"), ("BIBTEXT", "bibtex")],
)
def test_case_of_letters_does_not_matter(name, meant):
    assert nearest(name, [meant, "alpha", "gamma", "k"]) == f"one of {meant} and 3 more"


def test_values_that_are_no_strings_are_listed():
    assert absent(nearest("4", (1, 2, None)), 1, 2, None) == []


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: PLT().set_params(aritty=3), ["aritty", "arity", "more"]),
        (lambda: Stacking().set_params(n_candidate=3), ["n_candidate", "n_candidates", "more"]),
        (lambda: make_estimator("pltt", {}, 0), ["pltt", "plt", "more", "module:Class"]),
        (lambda: make_estimator("plt", {"aritty": 3}, 0), ["aritty", "arity", "more"]),
        (lambda: tune("ftaa", [[0.5]], [[1]]), ["ftaa", "fta", "more"]),
        (lambda: tune("fta", [[0.5]], [[1]], measure="macrof"), ["macrof", "macro_f", "more"]),
    ],
)
def test_message_with_suggestions_says_how_many_values_it_leaves_out(call, facts):
    with raises_with(XmlcError, *facts):
        call()
