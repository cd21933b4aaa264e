"""Check the names in a suite, and the estimators, hyperparameters and methods of the suite's models."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmlc.core.errors import InvalidParameterError, XmlcError
from xmlc.kernels.domains import LABELS_PER_INSTANCE, NumberRange
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.registry import (
    ESTIMATORS,
    LEARNERS,
    estimator_class,
    make_estimator,
    program_of,
    registered_name,
)
from xmlc.suite.config.ranges import ends_of
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.schemas import Keys, located, nearest

#: Names of rules, targets and folders of the workflow. Datasets and suites must not have one of these names, because
#: paths and targets would be ambiguous.
RESERVED = frozenset(
    "all tables baselines study small large manual digests figures published reference benchmarks simulations "
    "download synthesise prepare simulate tune train rank score estimate thresholds thresholds_without_validation "
    "infer forest sweep progressive table figure".split()
)
# Names that no model may have, because folders with these names are next to the models' folders.
FOLDERS = frozenset(("data", "tuning"))
# Hyperparameters that each run sets. If a suite set a hyperparameter in this table, all runs would have the same seed,
# or would use more threads than planned.
SET_BY_RUNS = {"random_state": "`seeds` to the suite", "n_jobs": "`threads` to the model or the run"}


OF_ESTIMATES = ("validation", "test")  # Hyperparameters of the estimator `estimates`, which are paths of files.


def check_reserved_names(suites: Mapping[str, Suite], datasets: Mapping[str, Iterable[str]]) -> None:
    """Raise an error if a dataset, suite or model has the name of a rule, a target or a folder of the workflow.

    Parameters
    ----------
    suites : mapping of str to Suite
    datasets : mapping of str to iterable of str
        Names of more datasets to check, by the file or setting that contains the names.

    Raises
    ------
    XmlcError
    """
    of_own = {name for suite in suites.values() if suite.own for name in suite.datasets}
    taken = RESERVED | ({*suites} - of_own - {"demo"})  # A suite and its dataset may have the same name, like the demo.
    places = {where: ({*names}, taken) for where, names in datasets.items()}
    for suite in suites.values():
        places[f"{suite.file}: datasets"] = {*suite.datasets}, taken
        places[f"{suite.file}: name of the file"] = {suite.name}, RESERVED
        places[f"{suite.file}: models"] = {*suite.all_models}, FOLDERS
    for where, (names, others) in places.items():
        for name in sorted(names & others):
            kind = "rule, target or folder of the workflow"
            if name in suites and name not in RESERVED:
                kind = "suite"
            raise XmlcError(f"{where}: found {name}, the name of a {kind}. Choose another name, such as my-{name}")


def check_models(suite: Suite) -> None:
    """Check that the estimators of a suite's models exist, and that their hyperparameters are known and in range.

    Some hyperparameters are known only after an import: those of baselines, and of users' models that inherit
    `__init__`. Each training job checks these hyperparameters before it trains the model. If a model uses a class of an
    installed library, the class is imported and instantiated here.

    Raises
    ------
    XmlcError
        An estimator is unknown, or a hyperparameter is unknown or has an invalid value. The error message contains the
        wrong value and the expected values.
    """
    for keys, model in suite.places.items():
        given: dict[Keys, Hyperparameters] = {(*keys, *place): values for place, values in model.every_value.items()}
        given |= suite.swept(keys[1])
        _check_model(suite, keys, model, given)


def _check_model(suite: Suite, keys: Keys, model: ModelSpec, given: Mapping[Keys, Hyperparameters]) -> None:
    """Check the estimator and the hyperparameters of one model."""
    for place, values in given.items():
        for key in values:
            if key in SET_BY_RUNS:
                problem = f"found the hyperparameter {key}, which each run sets. Add {SET_BY_RUNS[key]} instead"
                raise XmlcError(located(suite.file, (*place, key), problem))
    is_baseline = keys[0] == "baselines"
    try:
        if program_of(model.estimator) and (model.optional or is_baseline):
            return  # The program that a baseline wraps may be missing.
        if ".py:" in model.estimator:
            check_file(model.estimator, [key for values in given.values() for key in values])
        elif ":" in model.estimator:
            _check_class(model, given.values())
        elif model.estimator not in ESTIMATORS:
            _refuse_estimator(model.estimator)
    except XmlcError as error:
        raise XmlcError(located(suite.file, keys, str(error))) from error
    if model.estimator == "estimates":
        _check_paths(suite, given)
    elif model.estimator == "oracle":
        for place, values in given.items():
            if values:
                problem = f"found {', '.join(values)}, expected nothing, because the oracle has no hyperparameters"
                raise XmlcError(located(suite.file, place, problem))
    elif model.estimator in LEARNERS:
        _check_values(suite, keys, model, given)
        _check_together(suite, keys, model)


def _refuse_estimator(estimator: str) -> None:
    place, _, kind = estimator.rpartition(".")
    own = "package.module:ClassName"
    if place and kind != "py":
        own = f"{place}:{kind}"
    own += f" or {estimator if kind == 'py' else 'path/to/file.py'}:ClassName"
    raise XmlcError(f"found no estimator {estimator}, expected {nearest(estimator, ESTIMATORS)}, or {own}")


def _check_class(model: ModelSpec, given: Iterable[Hyperparameters]) -> None:
    """Check that a class of another library can be instantiated with each set of hyperparameters."""
    own = model.estimator.replace(":", ".py:")
    if Path(own.partition(":")[0]).is_file():  # Workflow jobs cannot import a module from the current folder.
        raise XmlcError(f"found {model.estimator}, a module in this folder, expected {own}")
    for values in given:
        make_estimator(model.estimator, model.hyperparameters | values, seed=0)


def _check_paths(suite: Suite, given: Mapping[Keys, Hyperparameters]) -> None:
    """Check the keys and the paths of a model that reads the estimates of another program."""
    for place, values in given.items():
        for key, path in values.items():
            rest = str(path).replace("{dataset}", "").replace("{seed}", "")
            problem = ""
            if key not in OF_ESTIMATES:
                problem = f"found {key}, expected {nearest(key, OF_ESTIMATES)}"
            elif "{" in rest:
                problem = f"found {rest[rest.index('{') :]} in {path}, expected {{dataset}} or {{seed}}"
            if problem:
                raise XmlcError(located(suite.file, (*place, key), problem))


def _check_values(suite: Suite, keys: Keys, model: ModelSpec, given: Mapping[Keys, Hyperparameters]) -> None:
    """Check that each hyperparameter of an estimator of xmlc exists, and that each value is in its domain."""
    domains = estimator_class(model.estimator).domains
    values_by_place: list[tuple[Keys, str, object]] = []
    for place, values in given.items():
        values_by_place += [((*place, key), key, value) for key, value in values.items()]
    for key, range_ in model.search.ranges.items():
        values_by_place += [((*keys, "search", "ranges", key), key, value) for value in ends_of(range_)]
    for place, key, value in values_by_place:
        if key not in domains:
            problem = f"found no hyperparameter {key} of {model.estimator}, expected {nearest(key, domains)}"
            raise XmlcError(located(suite.file, place, problem))
        domain = domains[key]
        is_of_trial = "stages" in place or "extra_stages" in place
        if value == LABELS_PER_INSTANCE and is_of_trial and isinstance(domain, NumberRange):
            continue  # The search replaces this text with a number.
        if key == "estimators" and value is not None and value in domain:
            _check_members(suite, place, value)
        if value not in domain:
            problem = f"found {value!r}, expected {str(domain).replace('None', 'null')}"
            raise XmlcError(located(suite.file, place, problem))


def _check_members(suite: Suite, place: Keys, members: Any) -> None:
    """Check that the members of a stacking are names of estimators or classes of a library."""
    for i, (_, member) in enumerate(members):
        estimator = str(member)
        if ":" not in estimator and registered_name(estimator) not in ESTIMATORS:
            problem = f"found {estimator}, expected {nearest(estimator, ESTIMATORS)}"
            raise XmlcError(located(suite.file, (*place, i), problem))


def _check_together(suite: Suite, keys: Keys, model: ModelSpec) -> None:
    """Check that the hyperparameters of each training fit together, such as the arity and the kind of a tree.

    A trial of a search can follow the best trial of an earlier stage, which is unknown. So a trial is refused only if
    it fits to no earlier trial. Trials in ranges are checked by `xmlc tune`, before the first of them.
    """
    base = model.hyperparameters
    possible: dict[Keys, list[Hyperparameters]] = {("hyperparameters",): [base]}
    possible |= {("datasets", dataset): [values] for dataset, values in model.datasets.items()}
    trial_base = base | model.search.trial_overrides
    trials = model.search.trials
    for place, trial in trials.items():
        earlier = [trial_base, *(trial_base | other for other in trials.values())]
        possible[place] = [before | trial for before in earlier]
    complete: dict[Keys, list[Hyperparameters]] = {(*keys, *place): sets for place, sets in possible.items()}
    for place, swept in suite.swept(str(keys[-1])).items():
        complete[place] = [model.values_on(dataset) | swept for dataset in suite.datasets]
    for place, sets in complete.items():
        errors = [_error_of(model.estimator, values) for values in sets]
        if all(errors):
            raise XmlcError(located(suite.file, place, errors[0]))


def _error_of(estimator: str, values: Hyperparameters) -> str:
    """Return why hyperparameters do not fit together, or ""."""
    known = {key: value for key, value in values.items() if value != LABELS_PER_INSTANCE}
    try:
        estimator_class(estimator)(**known).check_together()
    except InvalidParameterError as error:
        return str(error).replace("None", "null")
    return ""


def check_file(estimator: str, given: Iterable[str]) -> None:
    """Check that a user's file exists, is valid Python and contains the name of an estimator's class.

    If the class defines `__init__`, check that `__init__` accepts the given hyperparameters.
    """
    file, _, kind = estimator.rpartition(":")
    text, tree = python_of(file)
    if not re.search(rf"\b{re.escape(kind)}\b", text):  # A user's file may define the class, or import it.
        expected = nearest(kind, re.findall(r"^class (\w+)", text, re.MULTILINE) or ["the name of one of its classes"])
        raise XmlcError(f"{file}: found no class {kind}, expected {expected}")
    for node in (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind):
        takes = _arguments(node)
        if takes is not None and (unknown := [key for key in given if key.partition("__")[0] not in takes]):
            expected = nearest(unknown[0], takes) or "none"
            raise XmlcError(f"found no hyperparameter {unknown[0]} of {estimator}, expected {expected}")
        for method in ("fit", "predict_proba") if not node.bases else ():
            if not re.search(rf"\b{method}\b", ast.unparse(node)):
                raise XmlcError(f"{file}:{node.lineno}: found no {method} in {kind}, expected fit and predict_proba")


def _arguments(node: ast.ClassDef) -> list[str] | None:
    """Return the names of the arguments of the `__init__` that a class defines.

    Return None if the class does not define `__init__`, or if `__init__` has an argument such as ``**kwargs``.
    """
    own = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
    method = next(own, None)
    if not method or method.args.kwarg:
        return None
    return [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs)]


def python_of(file: str, where: str = "") -> tuple[str, ast.Module]:
    """Return the text and the syntax tree of a user's Python file."""
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"])
        raise XmlcError(f"{where}found no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    try:
        return text, ast.parse(text)
    except SyntaxError as error:
        raise XmlcError(f"{where}{file}:{error.lineno}: {error.msg}, expected a Python file") from error
