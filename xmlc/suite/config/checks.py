"""Check the names in a suite, and the estimators, hyperparameters and methods of the suite's models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmlc.core.errors import InvalidParameterError, XmlcError, let_through
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
    taken = RESERVED | {*suites} - {"demo"}
    for suite in suites.values():
        if suite.own:  # A suite and its dataset may have the same name, like the demo.
            taken -= {*suite.datasets} - RESERVED
    places = [(where, names, taken) for where, names in datasets.items()]
    for suite in suites.values():
        places.append((f"{suite.file}: datasets", suite.datasets, taken))
        places.append((f"{suite.file}: name of the file", [suite.name], RESERVED))
        places.append((f"{suite.file}: models", suite.all_models, FOLDERS))
    for where, names, others in places:
        for name in names:
            if name in others:
                kind = "a rule, target, folder or suite of the workflow"
                raise XmlcError(f"{where}: found {name}, the name of {kind}. Choose another name, such as my-{name}")


def check_models(suite: Suite) -> None:
    """Check that the estimators of a suite's models exist, and that their hyperparameters are known and in range.

    Estimators of xmlc are checked without an import. The class of a user's file or of an installed library is imported
    and instantiated. Baselines and optional models are checked by the jobs that train them, because their program may
    be missing.

    Raises
    ------
    XmlcError
        An estimator is unknown, or a hyperparameter is unknown or has an invalid value. The error message contains the
        wrong value and the expected values.
    """
    for keys, model in suite.places.items():
        given: dict[Keys, Hyperparameters] = {(*keys, *place): values for place, values in model.every_value.items()}
        given |= suite.swept(keys[1])
        for place, values in given.items():
            for key in values:
                if key in SET_BY_RUNS:
                    problem = f"found the hyperparameter {key}, which each run sets. Add {SET_BY_RUNS[key]} instead"
                    raise XmlcError(located(suite.file, (*place, key), problem))
                if model.estimator == "oracle" or (model.estimator == "estimates" and key not in OF_ESTIMATES):
                    expected = nearest(key, OF_ESTIMATES)
                    if model.estimator == "oracle":
                        expected = "none, because the oracle has no hyperparameters"
                    raise XmlcError(located(suite.file, (*place, key), f"found {key}, expected {expected}"))
        if program_of(model.estimator) and (model.optional or keys[0] == "baselines"):
            continue
        if model.estimator in LEARNERS:
            _check_values(suite, keys, model, given)
            _check_together(suite, keys, model)
        elif model.estimator not in ESTIMATORS:
            try:
                _check_class(model, given.values())
            except Exception as error:  # A user's file may raise any error.
                let_through(error)
                problem = str(error)
                if not isinstance(error, XmlcError):
                    problem = f"{type(error).__name__}: {problem}"
                raise XmlcError(located(suite.file, keys, problem)) from error


def _check_class(model: ModelSpec, given: Iterable[Hyperparameters]) -> None:
    """Instantiate a class of a user's file or of another library with each set of hyperparameters."""
    place, _, name = model.estimator.rpartition(":")
    if Path(f"{place}.py").is_file():  # Workflow jobs cannot import a module from the current folder.
        raise XmlcError(f"found {model.estimator}, a module in this folder, expected {place}.py:{name}")
    if not place:
        own = "package.module:ClassName or path/to/file.py:ClassName"
        raise XmlcError(f"found no estimator {name}, expected {nearest(name, ESTIMATORS)}, or {own}")
    for values in given:
        make_estimator(model.estimator, model.hyperparameters | values, seed=0)


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
        if value not in domain:
            problem = f"found {value!r}, expected {str(domain).replace('None', 'null')}"
            raise XmlcError(located(suite.file, place, problem))
        if key == "estimators":
            _check_members(suite, place, value)


def _check_members(suite: Suite, place: Keys, members: Any) -> None:
    """Check that the members of a stacking are names of estimators or classes of a library."""
    for i, (_, member) in enumerate(members or ()):
        estimator = str(member)
        if ":" not in estimator and registered_name(estimator) not in ESTIMATORS:
            problem = f"found {estimator}, expected {nearest(estimator, ESTIMATORS)}"
            raise XmlcError(located(suite.file, (*place, i), problem))


def _check_together(suite: Suite, keys: Keys, model: ModelSpec) -> None:
    """Check that the hyperparameters of each training fit together, such as the arity and the kind of a tree.

    A trial of a search can follow the best trial of an earlier stage, which is unknown. So a trial is refused only if
    it fits to no earlier trial. Trials in ranges are checked by `xmlc tune`, before the first of them.
    """
    possible: dict[Keys, list[Hyperparameters]] = {(*keys, "hyperparameters"): [model.hyperparameters]}
    for dataset, values in model.datasets.items():
        possible[(*keys, "datasets", dataset)] = [values]
    base = model.hyperparameters | model.search.trial_overrides
    trials = model.search.trials
    earlier = [base, *(base | trial for trial in trials.values())]
    for place, trial in trials.items():
        possible[(*keys, *place)] = [before | trial for before in earlier]
    for place, swept in suite.swept(str(keys[-1])).items():
        possible[place] = [model.values_on(dataset) | swept for dataset in suite.datasets]
    for place, sets in possible.items():
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


def text_of(suite: Suite, file: str) -> str:
    """Return the text of a Python file in the suite's key `extensions`."""
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"])
        raise XmlcError(located(suite.file, ("extensions",), f"found no file {file}, expected {near}"))
    return path.read_text(encoding="utf-8")
