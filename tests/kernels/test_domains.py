"""Domains of hyperparameters agree with estimators and their documentation."""

import inspect

import numpy as np
import pytest
from facts import absent, raises_with
from small_models import OURS

from xmlc.kernels.domains import Ascending, Flag, NumberRange, OneOf, whole
from xmlc.kernels.estimator import InvalidParameterError, check_hyperparameters
from xmlc.models.registry import estimator_class


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (whole(1, 5), (1, 5, np.int32(3)), (0, 6, 2.0, True, None, "3", 10**30, np.nan)),
        (whole(1, 5, none=True), (None, 1), (0, False)),
        (NumberRange(0, 1e9, above=True), (1e-300, 1e9), (0, -0.0, 1.1e9, np.inf, np.nan)),
        (NumberRange(0, 1), (0, 1.0, np.float32(0.5)), (-1e-9, 1.0000001, None, "1", True, 1j)),
        (OneOf(("a", "b")), ("a",), ("c", None, 0, ["a"])),
        (Flag(), (True, False, np.bool_(True)), (0, 1, None, "True")),
        (Ascending(NumberRange(0, 9)), ((0, 1.0), [2]), ((), (1, 0), (1, 1), (1, 10), 3, ("a",))),
    ],
)
def test_domain_contains_only_valid_values(domain, inside, outside):
    assert all(value in domain for value in inside)
    assert not any(value in domain for value in outside)


@pytest.mark.parametrize("name", OURS)
def test_every_hyperparameter_has_a_domain_with_its_default(name):
    cls = estimator_class(name)
    documentation = "\n".join(base.__doc__ or "" for base in cls.__mro__).replace('"', "'")
    assert set(cls.domains) == set(cls._hyperparameter_names())
    check_hyperparameters(cls())
    for hyperparameter, domain in cls.domains.items():
        declared = inspect.signature(cls).parameters[hyperparameter].annotation
        assert (None in domain) == ("None" in declared), hyperparameter
        assert isinstance(domain, Flag) == (declared == "bool"), hyperparameter
        if isinstance(domain, NumberRange):
            assert domain.whole == ("int" in declared), hyperparameter
        if isinstance(domain, OneOf):
            assert absent(documentation, *map(repr, domain.choices)) == [], hyperparameter


@pytest.mark.parametrize("name", OURS)
def test_fit_refuses_values_outside_the_domain(name):
    cls = estimator_class(name)
    for hyperparameter, domain in cls.domains.items():
        wrong = ["no such value", [0]]
        if isinstance(domain, NumberRange):
            wrong += [np.nextafter(domain.high, np.inf), np.nan, domain.low - 1, 10**19]
            if domain.above:
                wrong.append(domain.low)
        for value in wrong:
            with raises_with(InvalidParameterError, cls.__name__, f"{hyperparameter}="):
                cls(**{hyperparameter: value}).fit(np.eye(3), np.eye(3, dtype=bool))


def test_error_has_values_as_they_are_in_json():
    with raises_with(InvalidParameterError, "C_grid=[1.0, 0.5]"):
        check_hyperparameters(estimator_class("br")(C_grid=(1.0, 0.5)))
