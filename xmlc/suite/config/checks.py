"""Check the names in a suite, and the estimators, hyperparameters and methods of the suite's models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from xmlc.core.errors import InvalidParameterError, XmlcError, let_through
from xmlc.kernels.domains import LABELS_PER_INSTANCE, NumberRange
from xmlc.kernels.estimator import Hyperparameters, check_value
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
from xmlc.suite.schemas import located, nearest

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
        try:
            _check_model(suite, keys, model)
        except Exception as error:  # A user's file may raise any error.
            let_through(error)
            problem = str(error).replace("None", "null")
            if not isinstance(error, XmlcError):
                problem = f"{type(error).__name__}: {problem}"
            raise XmlcError(located(suite.file, keys, problem)) from error


def _check_model(suite: Suite, keys: tuple[str, str], model: ModelSpec) -> None:
    estimator = model.estimator
    search = model.search
    swept = suite.swept(keys[1])
    trials = [*chain(*search.stages, *chain(*search.extra_stages.values()))]
    given = [model.hyperparameters, *model.datasets.values(), search.trial_overrides, *swept]
    for key in chain(*given, *trials, search.ranges):
        if key in SET_BY_RUNS:
            raise XmlcError(f"found the hyperparameter {key}, which each run sets. Add {SET_BY_RUNS[key]} instead")
        if estimator == "oracle":
            raise XmlcError(f"found {key}, expected nothing, because the oracle has no hyperparameters")
        if estimator == "estimates" and key not in OF_ESTIMATES:
            raise XmlcError(f"found {key}, expected {nearest(key, OF_ESTIMATES)}")
    if program_of(estimator) and (model.optional or keys[0] == "baselines"):
        return
    if estimator not in LEARNERS:
        if estimator not in ESTIMATORS:
            _check_class(model, [*given, *trials])
        return
    for name, range_ in search.ranges.items():
        given += [{name: end} for end in ends_of(range_)]
    domains = estimator_class(estimator).domains
    for trial in trials:
        # The search replaces this text with a number.
        replaced = {key for key, value in trial.items() if value == LABELS_PER_INSTANCE}
        numbers = {key for key in replaced if isinstance(domains.get(key), NumberRange)}
        given.append({key: value for key, value in trial.items() if key not in numbers})
    for values in given:
        _check_values(estimator, values)
    _check_together(estimator, [{}], [model.hyperparameters, *model.datasets.values()])
    # A trial can follow the best trial of an earlier stage, which is unknown, and a sweep runs on several datasets.
    base = model.hyperparameters | search.trial_overrides
    _check_together(estimator, [base, *(base | trial for trial in trials)], trials)
    _check_together(estimator, [model.values_on(dataset) for dataset in suite.datasets], swept)


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


def _check_values(estimator: str, values: Hyperparameters) -> None:
    """Check that each hyperparameter of an estimator of xmlc exists, and that each value is in its domain."""
    kind = type(make_estimator(estimator, values, seed=0))
    for key, value in values.items():
        check_value(kind, key, value)
        if key == "estimators":
            members: Any = value or ()
            for _, member in members:
                name = str(member)
                if ":" not in name and registered_name(name) not in ESTIMATORS:
                    raise XmlcError(f"{key}: found {name}, expected {nearest(name, ESTIMATORS)}")


def _check_together(estimator: str, possible: Sequence[Hyperparameters], given: Iterable[Hyperparameters]) -> None:
    """Check that each of the ``given`` hyperparameters fits to some ``possible`` ones, such as arity and tree."""
    for values in given:
        errors = []
        for others in possible:
            complete = others | values
            try:
                known = {key: value for key, value in complete.items() if value != LABELS_PER_INSTANCE}
                estimator_class(estimator)(**known).check_together()
            except InvalidParameterError as error:
                errors.append(error)
        if len(errors) == len(possible):
            raise errors[0]


def text_of(suite: Suite, file: str) -> str:
    """Return the text of a Python file in the suite's key `extensions`."""
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"])
        raise XmlcError(located(suite.file, ("extensions",), f"found no file {file}, expected {near}"))
    return path.read_text(encoding="utf-8")
