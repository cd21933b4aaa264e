"""A suggestion cannot be mistaken for the list of all valid values."""

import re

import pytest
from facts import absent, raises_with

from xmlc.core.errors import XmlcError, nearest
from xmlc.models import PLT
from xmlc.models.registry import ESTIMATORS, make_estimator
from xmlc.thresholds import tune


def n_left_out(text):
    """Return N of the words "N more" at the end of a text, or 0."""
    found = re.search(r"(\d+) more$", text)
    return int(found[1]) if found else 0


def test_similar_names_come_with_the_number_of_other_names():
    suggested = nearest("fastxlm", ESTIMATORS)
    mentioned = [name for name in ESTIMATORS if not absent(suggested, name)]
    assert 0 < len(mentioned) <= 3
    assert n_left_out(suggested) == len(ESTIMATORS) - len(mentioned)


def test_long_list_is_cut_and_says_so():
    assert n_left_out(nearest("zzz", [f"n{i}" for i in range(100)])) == 80


@pytest.mark.parametrize(
    ("name", "valid", "suggested"),
    [
        ("qqq", ["b", "a"], "a or b"),
        ("smal", ["large", "small"], "small or large"),
        ("qqq", ["b", "a", "d", "c"], "one of a, b, c, d"),
        ("aa", ["a"], "a"),
        ("a", [], ""),
        # The case of letters does not matter.
        ("c", ["C", "alpha", "gamma", "k"], "C or one of 3 more"),
        ("BIBTEXT", ["bibtex", "alpha", "gamma", "k"], "bibtex or one of 3 more"),
    ],
)
def test_short_list_is_complete_or_counts_the_others(name, valid, suggested):
    assert nearest(name, valid) == suggested


def test_values_that_are_no_strings_are_listed():
    assert absent(nearest("4", (1, 2, None)), 1, 2, None) == []


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: PLT().set_params(aritty=3), ["aritty", "arity", "more"]),
        (lambda: make_estimator("pltt", {}, 0), ["pltt", "plt", "more", "module:Class"]),
        (lambda: tune("ftaa", [[0.5]], [[1]]), ["ftaa", "fta", "more"]),
        (lambda: tune("fta", [[0.5]], [[1]], measure="macrof"), ["macrof", "macro_f", "more"]),
    ],
)
def test_message_with_suggestions_says_how_many_values_it_leaves_out(call, facts):
    with raises_with(XmlcError, *facts):
        call()
