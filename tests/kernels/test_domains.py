"""Domains of hyperparameters agree with estimators, their documentation and the searches of
suites.
"""

import inspect

import numpy as np
import pytest
import yaml
from facts import absent, raises_with
from repository import ROOT
from small_models import OURS

from xmlc.kernels.domains import Ascending, Flag, NumberRange, OneOf, whole
from xmlc.kernels.estimator import InvalidParameterError, check_hyperparameters, check_value
from xmlc.models import PLT
from xmlc.models.registry import estimator_class


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (whole(1, 5), (1, 5, np.int32(3)), (0, 6, 2.0, True, None, "3", 10**30, np.nan)),
        (whole(1, 5, none=True), (None, 1), (0, False)),
        (
            NumberRange(0, 1e9, above=True),
            (1e-300, 1, 1e9, np.float32(0.5)),
            (0, -0.0, 1.1e9, np.inf, np.nan, "1", True),
        ),
        (NumberRange(0, 1), (0, 1.0), (-1e-9, 1.0000001, None, [0.5], 1j)),
        (OneOf(("a", "b")), ("a",), ("c", None, 0, ["a"])),
        (Flag(), (True, False, np.bool_(True)), (0, 1, None, "True")),
        (
            Ascending(NumberRange(0, 9)),
            ((0, 1.0), [2]),
            ((), (1, 0), (1, 1), (1, 10), None, 3, ("a",)),
        ),
    ],
)
def test_domain_contains_only_valid_values(domain, inside, outside):
    assert all(value in domain for value in inside)
    assert not any(value in domain for value in outside)


def test_domain_and_error_describe_expected_values():
    assert absent(str(whole(1, 5, none=True)), "1", "5", "None") == []
    assert absent(str(NumberRange(0, 1e9, above=True)), "0", "1e+09") == []
    with raises_with(InvalidParameterError, "PLT", "solver='gd'", "'sgd', 'adagrad', 'batch'"):
        check_value(PLT, "solver", "gd")
    with raises_with(InvalidParameterError, "C_grid=[1.0, 0.5]") as error:
        check_hyperparameters(estimator_class("br")(C_grid=(1.0, 0.5)))
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("name", OURS)
def test_every_hyperparameter_has_a_domain_with_its_default(name):
    cls = estimator_class(name)
    assert set(cls.domains) == set(cls._hyperparameter_names())
    check_hyperparameters(cls())
    for hyperparameter, domain in cls.domains.items():
        declared = inspect.signature(cls).parameters[hyperparameter].annotation
        assert (None in domain) == ("None" in declared), hyperparameter
        assert isinstance(domain, Flag) == (declared == "bool"), hyperparameter
        if isinstance(domain, NumberRange):
            assert domain.whole == ("int" in declared), hyperparameter
        if isinstance(domain, OneOf):  # the documentation contains each choice
            assert all(repr(choice) in all_documentation(cls) for choice in domain.choices), (
                hyperparameter
            )


def all_documentation(cls):
    return "\n".join(base.__doc__ or "" for base in cls.__mro__).replace('"', "'")


@pytest.mark.parametrize("name", OURS)
def test_fit_refuses_values_outside_the_domain(name):
    cls = estimator_class(name)
    X = np.eye(3)
    Y = np.eye(3, dtype=bool)
    for hyperparameter, domain in cls.domains.items():
        wrong = ["no such value", [0]]
        if isinstance(domain, NumberRange):
            wrong += [
                np.nextafter(domain.high, np.inf),
                np.nan,
                np.inf,
                domain.high + 1,
                domain.low - 1,
                10**18 * 10,
            ]
            wrong += [domain.low] if domain.above else []
        for value in wrong:
            with raises_with(InvalidParameterError, cls.__name__, f"{hyperparameter}="):
                cls(**{hyperparameter: value}).fit(X, Y)


def configured(content, estimator=None):
    """Yield estimators and values of hyperparameters that a suite sets or searches."""
    if isinstance(content, list):
        for part in content:
            yield from configured(part, estimator)
    elif isinstance(content, dict):
        estimator = content.get("estimator", estimator)
        for key, value in content.items():
            if estimator in OURS and key in estimator_class(estimator).domains:
                is_range = isinstance(value, dict) and "low" in value
                values = (
                    [value["low"], value["high"]]
                    if is_range
                    else value
                    if isinstance(value, list)
                    else [value]
                )
                for one in values:
                    yield estimator, key, one
            else:
                yield from configured(value, estimator)


def test_hyperparameters_in_suites_lie_in_their_domains():
    found = 0
    for file in sorted((ROOT / "config/papers").glob("*.yaml")):
        for name, hyperparameter, value in configured(
            yaml.safe_load(file.read_text(encoding="utf-8"))
        ):
            if not isinstance(value, dict | str) or value in ("adagrad", "sgd", "batch"):
                assert value in estimator_class(name).domains[hyperparameter], (
                    file.name,
                    hyperparameter,
                )
                found += 1
    assert found > 100, found
