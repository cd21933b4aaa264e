"""The examples in the docstrings of public names run."""

import doctest
import inspect

import pytest

import xmlc.data
import xmlc.inference
import xmlc.metrics
import xmlc.models
import xmlc.thresholds
from xmlc.models.wrapped import Wrapped

PUBLIC = {
    name: getattr(room, name)
    for room in (xmlc.data, xmlc.models, xmlc.thresholds, xmlc.inference, xmlc.metrics)
    for name in room.__all__
    if "Examples\n" in (getattr(room, name).__doc__ or "")
} | {"Wrapped": Wrapped}


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_example_runs(name):
    text = inspect.cleandoc(PUBLIC[name].__doc__)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert example.examples
    found = []
    doctest.DocTestRunner(verbose=False).run(example, out=found.append)
    assert found == []
