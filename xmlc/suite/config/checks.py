"""Check the names in a suite, and the estimators, hyperparameters and methods of the suite's models."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.registry import ESTIMATORS, domains_of, make_estimator, program_of
from xmlc.suite.config.ranges import Range
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.schemas import located, nearest

#: Names of rules, targets and folders of the workflow. Datasets and suites must not have one of these names, because
#: paths and targets would be ambiguous.
RESERVED = frozenset(
    "all tables baselines study small large manual digests figures published reference benchmarks simulations "
    "download synthesise prepare simulate tune train train_and_drop rank estimate estimate_and_drop thresholds "
    "thresholds_without_validation infer forest sweep progressive table figure".split()
)
# Names that no model may have, because folders with these names are next to the models' folders.
FOLDERS = frozenset(("data", "tuning"))
# Hyperparameters that each run sets. If a suite set a hyperparameter in this table, all runs would have the same seed,
# or would use more threads than planned.
SET_BY_RUNS = {"random_state": "`seeds` to the suite", "n_jobs": "`threads` to the model or the run"}


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
            kind = "suite" if name in suites and name not in RESERVED else "rule, target or folder of the workflow"
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
    for name, model in suite.all_models.items():
        try:
            _check_model(suite, name, model)
        except XmlcError as error:
            keys = ("baselines" if name in suite.baselines else "models", name)
            raise XmlcError(located(suite.file, keys, str(error))) from error


def _check_model(suite: Suite, name: str, model: ModelSpec) -> None:
    """Check the estimator and the hyperparameters of one model."""
    given = [*model.every_value, *suite.swept(name)]
    keys = [key for values in given for key in values]
    for key, content in model.search.ranges.items():
        Range.parse(key, content)
    for key in {*keys} & {*SET_BY_RUNS}:
        raise XmlcError(f"found the hyperparameter {key}, which each run sets. Add {SET_BY_RUNS[key]} instead")
    if program_of(model.estimator) and (model.optional or name in suite.baselines):
        return  # The program that a baseline wraps may be missing.
    if ".py:" in model.estimator:
        check_file(model.estimator, keys)
    elif ":" in model.estimator:
        _check_class(model, given)
    elif model.estimator not in ESTIMATORS:
        place, _, kind = model.estimator.rpartition(".")
        own = f"{place}:{kind}" if place and kind != "py" else "package.module:ClassName"
        own += f" or {model.estimator if kind == 'py' else 'path/to/file.py'}:ClassName"
        expected = f"{nearest(model.estimator, ESTIMATORS)}, or {own}"
        raise XmlcError(f"found no estimator {model.estimator}, expected {expected}")
    else:
        _check_values(model, given)


def _check_class(model: ModelSpec, given: Iterable[Hyperparameters]) -> None:
    """Check that a class of another library can be instantiated with each set of hyperparameters."""
    own = model.estimator.replace(":", ".py:")
    if Path(own.partition(":")[0]).is_file():  # Workflow jobs cannot import a module from the current folder.
        raise XmlcError(f"found {model.estimator}, a module in this folder, expected {own}")
    for values in given:
        make_estimator(model.estimator, model.hyperparameters | values, seed=0)


def _check_values(model: ModelSpec, given: Iterable[Hyperparameters]) -> None:
    """Check the hyperparameters of a model whose estimator is in xmlc."""
    known: Mapping[str, Any] | None = domains_of(model.estimator)
    if model.estimator == "estimates":
        known = {"validation": None, "test": None}
        for path in (str(path) for values in model.every_value for path in values.values()):
            if "{" in (rest := path.replace("{dataset}", "").replace("{seed}", "")):
                raise XmlcError(f"{path}: found {rest[rest.index('{') :]}, expected {{dataset}} or {{seed}}")
    if known is None:
        return
    for key in model.search.ranges:
        if key not in known:
            raise XmlcError(f"search.ranges: found {key}, expected {nearest(key, known)}")
    for key, value in (pair for values in given for pair in values.items()):
        if key not in known:
            raise XmlcError(f"found no hyperparameter {key} of {model.estimator}, expected {nearest(key, known)}")
        if (domain := known[key]) is not None and value != LABELS_PER_INSTANCE and value not in domain:
            raise XmlcError(f"{key}: found {value!r}, expected {str(domain).replace('None', 'null')}")


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
    if not (method := next(own, None)) or method.args.kwarg:
        return None
    return [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs)]


def python_of(file: str, where: str = "") -> tuple[str, ast.Module]:
    """Return the text and the syntax tree of a user's Python file."""
    if not (path := Path(file)).is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"])
        raise XmlcError(f"{where}found no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    try:
        return text, ast.parse(text)
    except SyntaxError as error:
        raise XmlcError(f"{where}{file}:{error.lineno}: {error.msg}, expected a Python file") from error
