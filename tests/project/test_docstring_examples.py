"""Examples in the docstrings of public estimators, methods and measures."""

import doctest
import inspect

import pytest

import xmlc.inference
import xmlc.metrics
import xmlc.models
import xmlc.thresholds

ROOMS = (xmlc.models, xmlc.thresholds, xmlc.inference, xmlc.metrics)
LEAST, MOST = 3, 8  # lines of an example
# Functions and types that serve the others.
HELPERS = {"Samples", "LabelsBySize", "classification_metrics", "dropped_at_most", "fit_in_one_pass", "floor_bound"}
HELPERS |= {"infer_blocks", "labels_below_floor", "labels_by_size", "labels_by_size_from_marginals", "marginals_of"}
HELPERS |= {"precision_and_ndcg", "propensity_parameters"}
PUBLIC = {
    name: getattr(room, name)
    for room in ROOMS
    for name in room.__all__
    if callable(getattr(room, name)) and name not in HELPERS
}


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_runs(name):
    text = inspect.cleandoc(PUBLIC[name].__doc__)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    lines = text.partition("Examples\n--------\n")[2].splitlines()
    assert LEAST <= len(lines) <= MOST, "an example of three to eight lines ends the docstring"
    found = []
    doctest.DocTestRunner(verbose=False).run(example, out=found.append)
    assert found == []
