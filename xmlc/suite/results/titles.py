"""Define the printed names of methods, models and hyperparameters, and the conventions that tables state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import column
from xmlc.suite.results.methods import INFERENCE_METHODS, THRESHOLD_METHODS

# A threshold method has another printed name if the model was trained on the whole training set.
FULL, ALL_DATA = "-full", ", all training data"
_OF_ROWS = (("", ""), (FULL, ALL_DATA))
METHODS = {name + end: title + more for name, title in THRESHOLD_METHODS.items() for end, more in _OF_ROWS}
METHODS |= INFERENCE_METHODS | {"for-instance-f": "best threshold"}
# Printed names of models. Each paper's package adds names by `name_models`.
_MODELS = {"oracle": "oracle"}
# Maps the first word of the name of a baseline model to the printed name of the baseline program. A model whose name
# begins with any other word belongs to xmlc.
PROGRAMS = {"napkinxc": "napkinXC", "omikuji": "omikuji"}
PASSES = re.compile(r"(.+)-(\d+)-pass(?:es)?")
HYPERPARAMETERS = {"arity": "arity b", "lam": "lambda", "gamma": "gamma", "epochs": "epochs"}
SEARCHES = {"random": "random search", "smac": "SMAC", "stages": "search in stages", "auto": "auto"}

# Models that use the true posteriors. Tables show the scores of these models as a limit, and do not mark them as the
# best scores.
LIMITS = ("oracle",)

CONVENTIONS = (
    "Macro-F is the mean over all m labels. A label with neither positives nor predictions counts 1 (0/0 = 1).",
    "Thresholds are tuned on 20 % of the training set, for models that are trained on the other 80 %.",
)


def method_title(name: str) -> str:
    """Return the printed name of a threshold or inference method."""
    return METHODS.get(name, name)


def name_models(titles: Mapping[str, str], over: bool = False) -> None:
    """Register printed names of models. The keys of ``titles`` are the names of the models in suites and records.

    Raises
    ------
    XmlcError
        A model already has a different printed name. If ``over`` is true, no error is raised, and the new name replaces
        the old name.
    """
    for name, title in titles.items():
        if over:
            _MODELS[name] = title
        elif _MODELS.setdefault(name, title) != title:
            raise XmlcError(f"model {name}: found the names {_MODELS[name]!r} and {title!r}, expected one")


def model_title(name: str) -> str:
    """Return the printed name of a model.

    If ``name`` contains a number of training passes, the printed name ends with this number.
    """
    base, passes = without_passes(name)
    title = _MODELS.get(base, base)
    return title if passes is None else f"{title}, {passes} pass{'es' * (passes > 1)}"


def measure_of(tuned_for: str) -> str:
    """Return the measure that thresholds were tuned for.

    The argument is the name of the measure, or the name of a threshold method that maximises macro-F.
    """
    return "macro_f" if tuned_for in METHODS else tuned_for


def tuned_for_title(tuned_for: str) -> str:
    """Return the printed name of a threshold method, or of the measure that thresholds were tuned for."""
    return method_title(tuned_for) if tuned_for in METHODS else column(tuned_for).title


def without_passes(name: str) -> tuple[str, int | None]:
    """Split the name of a model into the name without training passes and the number of passes.

    For example, ``oplt-b-3-passes`` gives ("oplt-b", 3).

    If a name contains no number of passes, the result is the unchanged name and None.
    """
    found = PASSES.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def family(name: str) -> str:
    """Return the printed name of the program that contains a model: xmlc or a baseline program."""
    return PROGRAMS.get(name.partition("-")[0], "xmlc")


def hyperparameter_title(name: str) -> str:
    """Return the printed name of a hyperparameter, such as ``arity b`` or ``lambda``."""
    return HYPERPARAMETERS.get(name, name)


def search_title(method: str, budget: int) -> str:
    """Return a text with the printed name of a search method and the number of trials."""
    return f"{SEARCHES.get(method, method)}, {budget} trial{'s' * (budget != 1)}"


def method_order(names: Iterable[str]) -> list[str]:
    """Sort names of methods in the order in which papers show the methods.

    Unknown names come last, in alphabetical order.
    """
    known = list(METHODS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))
