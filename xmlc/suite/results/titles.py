"""Printed names of methods, models and hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import column
from xmlc.suite.results.methods import INFERENCE_METHODS, THRESHOLD_METHODS

# Ends the name of a threshold method whose model is trained on all training data.
FULL = "-full"
ALL_DATA = ", all training data"
METHODS: dict[str, str] = {}
for _name, _title in THRESHOLD_METHODS.items():
    METHODS[_name] = _title
    METHODS[_name + FULL] = _title + ALL_DATA
METHODS |= INFERENCE_METHODS | {"for-instance-f": "best threshold"}
# Printed names of models, to which the papers add theirs by `name_models`
_MODELS = {"oracle": "oracle"}
# Programs of baselines, by the first word of a model's name. All other models are xmlc's.
PROGRAMS = {"napkinxc": "napkinXC", "omikuji": "omikuji"}
PASSES = re.compile(r"(.+)-(\d+)-pass(?:es)?")
HYPERPARAMETERS = {"arity": "arity b", "lam": "lambda"}
SEARCHES = {"random": "random search", "smac": "SMAC", "stages": "search in stages"}

# They use the true posteriors, so tables never mark them as best.
LIMITS = ("oracle",)


def method_title(name: str) -> str:
    """Return the printed name of a threshold or inference method."""
    return METHODS.get(name, name)


def name_models(titles: Mapping[str, str], over: bool = False) -> None:
    """Register printed names of models, which replace others only if ``over`` is true."""
    for name, title in titles.items():
        known = _MODELS.get(name, title)
        if known != title and not over:
            raise XmlcError(f"model {name}: found the names {known!r} and {title!r}, expected one")
        _MODELS[name] = title


def model_title(name: str) -> str:
    """Return a model's printed name, with its number of training passes."""
    base, passes = without_passes(name)
    title = _MODELS.get(base, base)
    if passes is None:
        return title
    if passes == 1:
        return f"{title}, {passes} pass"
    return f"{title}, {passes} passes"


def measure_of(tuned_for: str) -> str:
    """Return the measure that thresholds are tuned for, by default macro-F."""
    if tuned_for in METHODS:
        return "macro_f"
    return tuned_for


def tuned_for_title(tuned_for: str) -> str:
    """Return the printed name of a threshold method or tuned measure."""
    return METHODS.get(tuned_for) or column(tuned_for).title


def without_passes(name: str) -> tuple[str, int | None]:
    """Split ``oplt-b-3-passes`` into ("oplt-b", 3), with None for a name without passes."""
    found = PASSES.fullmatch(name)
    if found is None:
        return name, None
    return found[1], int(found[2])


def family(name: str) -> str:
    """Return the program that contains a model: xmlc or a baseline."""
    return PROGRAMS.get(name.partition("-")[0], "xmlc")


def hyperparameter_title(name: str) -> str:
    """Return the printed name, such as ``arity b`` or ``lambda``."""
    return HYPERPARAMETERS.get(name, name)


def search_title(method: str, budget: int) -> str:
    """Return a search method's printed name, with its number of trials."""
    trials = "trials"
    if budget == 1:
        trials = "trial"
    return f"{SEARCHES.get(method, method)}, {budget} {trials}"


def method_order(names: Iterable[str]) -> list[str]:
    """Sort methods in the papers' order, then others by name."""
    places = {name: place for place, name in enumerate(METHODS)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))
