"""Every declared hyperparameter is documented, every documented one is declared, and both say the same of it."""

import ast
import inspect
import pickle
import re

import pytest

from xmlc import thresholds
from xmlc.models.registry import ESTIMATORS, estimator_class
from xmlc.thresholds.apply import ThresholdMethod

METHODS = [name for name in thresholds.PUBLIC if isinstance(getattr(thresholds, name), type)]
CLASSES = [estimator_class(name) for name in ESTIMATORS] + [getattr(thresholds, name) for name in METHODS]


def documented(cls):
    """Types of the hyperparameters in the docstrings of a class and its bases, by name, as numpydoc writes them."""
    found = {}
    for base in reversed(cls.__mro__):
        section = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n\w+\n---|\Z)", inspect.cleandoc(base.__doc__ or ""), re.S)
        if section:
            entries = re.findall(r"^(\w+(?:, \w+)*)(?: : (.*))?$", section[1], re.M)
            found |= {name: kind or found.get(name, "") for names, kind in entries for name in names.split(", ")}
    return found


def test_all_threshold_methods_are_covered():
    assert len(METHODS) >= 5
    assert all(issubclass(getattr(thresholds, name), ThresholdMethod) for name in METHODS)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_declared_and_documented_hyperparameters_are_the_same(cls):
    types = documented(cls)
    assert sorted(types) == cls._hyperparameter_names()
    for name, declared in inspect.signature(cls).parameters.items():
        kind, default = types[name], declared.default
        if kind.startswith("{"):
            assert default in ast.literal_eval(kind), name
        stated = re.search(r"default:? (\S+)$", kind)
        assert stated is None or ast.literal_eval(stated[1]) == default, name
        if kind:
            may_be_none = kind.endswith(("or None", "optional"))
            assert may_be_none == declared.annotation.endswith("| None"), name
            assert may_be_none or default is not None, name


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_construction_stores_hyperparameters_and_nothing_else(cls):
    made = cls()
    assert vars(made) == made.get_params()
    copied = pickle.loads(pickle.dumps(made))
    assert copied.get_params() == made.get_params()
    assert copied != made
    assert repr(copied) == f"{cls.__name__}()"
