"""Find estimators by the names that configuration files use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlc.core.checksums import verify_file
from xmlc.core.errors import InvalidParameterError, MissingFileError, XmlcError, nearest
from xmlc.core.extensions import import_file
from xmlc.core.files import checked_path, read_json
from xmlc.kernels.estimator import Hyperparameters

if TYPE_CHECKING:
    from xmlc.models.base import SparseProbabilityEstimator

#: This dictionary contains the estimators of this package that learn from training data, by name.
LEARNERS = {
    "stacking": "xmlc.models.stacking:Stacking",
    "plt": "xmlc.models.plt:PLT",
    "parabel": "xmlc.models.parabel:Parabel",
    "fastxml": "xmlc.models.fastxml:FastXML",
    "ldsm": "xmlc.models.ldsm:LdSM",
    "oplt": "xmlc.models.oplt:OPLT",
    "br": "xmlc.models.linear.binary_relevance:BinaryRelevance",
    "pcc": "xmlc.models.linear.classifier_chain:ProbabilisticClassifierChain",
    "swnn": "xmlc.models.nearest:SparseWeightedNearestNeighbors",
}
ESTIMATORS = LEARNERS | {
    "oracle": "xmlc.models.oracle:Oracle",
    "estimates": "xmlc.models.oracle:SavedEstimates",
    "vw-cmt": "xmlc.models.vowpalwabbit:VowpalWabbitCMT",
}
#: This dictionary maps the lower-case class name of each estimator to the estimator's name.
CLASS_NAMES = {place.rpartition(":")[2].lower(): name for name, place in ESTIMATORS.items()}
PRESET = "plt-ranking"  # The name of `PLT.for_ranking`.
DEFAULT = "stacking"  # Stacking is the default estimator of `xmlc.TextClassifier` and `xmlc fit`.
# OPLT is the default estimator of `xmlc.TextClassifier` and `xmlc fit` for streams.
STREAMING = "oplt"
_BASELINE = re.compile(r"(xmlc\.models\.(?=vowpal)|benchmarks/baselines/)(?P<program>[a-z]+)")


def registered_name(name: str) -> str:
    """Return the key of `ESTIMATORS` for an estimator of this package, such as "plt" for "PLT" or
    "xmlc.models:PLT".

    All other names are returned unchanged.
    """
    place, _, attribute = name.rpartition(":")
    if not place:
        lower = name.lower()
        key = CLASS_NAMES.get(lower, lower)
        if key in (*ESTIMATORS, PRESET):
            return key
        return name
    for key, target in ESTIMATORS.items():
        module, _, class_name = target.partition(":")
        if attribute == class_name and (
            place in ("xmlc.models", module) or place.startswith(f"{module}.")
        ):
            return key
    return name


def estimator_class(name: str) -> Any:
    """Return the class of an estimator, or the function that returns the estimator.

    Parameters
    ----------
    name : str
        A key of `ESTIMATORS` or a class of this package such as ``PLT``,
        ``package.module:ClassName`` for a class of another library, or ``path/to/file.py:Name`` for
        your own class or function.

    Returns
    -------
    type or function
        The class or function. A class that is not derived from `SparseProbabilityEstimator` has to
        be wrapped by `xmlc.models.wrapped`.

    Raises
    ------
    XmlcError
        The estimator does not exist, or has no ``fit`` or no ``predict_proba``.
    """
    name = registered_name(name)
    if name in ESTIMATORS:
        module_name, _, attribute = ESTIMATORS[name].partition(":")
        return getattr(importlib.import_module(module_name), attribute)
    from xmlc.models import wrapped  # it loads SciPy, which is slow

    if ".py:" in name:
        file, _, attribute = name.rpartition(":")
        found = getattr(import_file(file), attribute, None)
    elif ":" in name:
        found = wrapped.class_of(name)
    else:
        expected = f"{nearest(name, [*ESTIMATORS, PRESET])}, module:Class or path/to/file.py:Class"
        raise InvalidParameterError(f"found estimator {name!r}, expected {expected}")
    if not isfunction(found):
        wrapped.check_wrapped_methods(name, found)
    return found


def _is_ours(found: object) -> bool:
    # this import is inside the function, because it loads SciPy, which is slow
    from xmlc.models.base import SparseProbabilityEstimator

    return isinstance(found, type) and issubclass(found, SparseProbabilityEstimator)


def make_estimator(
    name: str, parameters: Hyperparameters, seed: int, n_jobs: int | None = None
) -> SparseProbabilityEstimator:
    """Construct an estimator. Pass ``seed`` and ``n_jobs`` if the estimator accepts them.

    Raises
    ------
    XmlcError
        The estimator does not have a given hyperparameter, or is of another library and does not
        estimate label sets.
    """
    from xmlc.models import wrapped

    name = registered_name(name)
    estimator: SparseProbabilityEstimator
    if name == PRESET:
        estimator = estimator_class("plt").for_ranking()
    else:
        found = estimator_class(name)
        if not _is_ours(found):
            return wrapped.adapt(name, found, parameters, seed, n_jobs)
        estimator = found()
    known = estimator.get_params()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        found = ", ".join(map(repr, unknown))
        raise InvalidParameterError(
            f"{name}: found hyperparameter {found}, expected {nearest(unknown[0], known)}"
        )
    common = {
        key: value
        for key, value in {"random_state": seed, "n_jobs": n_jobs}.items()
        if key in known
    }
    return estimator.set_params(**common | parameters)


def load_estimator(
    name: str, folder: Path, n_jobs: int | None = None
) -> SparseProbabilityEstimator:
    """Load a trained model, and set ``n_jobs`` if the model has this hyperparameter.

    A model of another library is trusted: code from the folder runs when the model is read.

    Raises
    ------
    XmlcError
        The estimator does not exist, or the folder contains no model of this estimator.
    """
    from xmlc.models.wrapped import Wrapped

    found = estimator_class(name)
    model = (found if _is_ours(found) else Wrapped).load(folder, trusted=True)
    if "n_jobs" in model.get_params():
        return model.set_params(n_jobs=n_jobs)
    return model


def load_model(path: str | Path, trusted: bool = False) -> SparseProbabilityEstimator:
    """Read a model that was written by the ``save`` of any estimator of this package.

    Parameters
    ----------
    path : str or Path
    trusted : bool
        Allow models of other libraries. Reading a model of another library runs code from the
        folder.

    Raises
    ------
    XmlcError
        The folder contains no model, a model that was changed, or a model of another library
        without ``trusted``. The error is also raised for a model of a custom class, because only
        the ``load`` of the custom class can read the model.
    """
    from xmlc.models.storage import DESCRIPTION
    from xmlc.models.wrapped import Wrapped

    described = checked_path(path) / DESCRIPTION
    found = ""
    if described.exists():
        verify_file(described)
        found = str(read_json(described).get("estimator"))
    if found == "Wrapped":
        return Wrapped.load(path, trusted)
    name = registered_name(found)
    if name in ESTIMATORS:
        model: SparseProbabilityEstimator = estimator_class(name).load(path, trusted)
        return model
    expected = "expected a folder written by xmlc fit, xmlc train or the save of an estimator"
    if (Path(path) / "texts.json").exists():
        expected += ". Read this folder with TextClassifier.load."
    if found:
        raise XmlcError(f"{path}: found a model of {found}, {expected}")
    raise MissingFileError(f"{path}: found no model, {expected}")


def program_of(name: str) -> str:
    """Return the name of the program that a baseline wraps, or "" for other estimators.

    The module of a baseline has the name of the program.
    """
    found = _BASELINE.match(ESTIMATORS.get(name, name))
    if found:
        return found["program"]
    return ""


def estimates_file(pattern: str, dataset: str, seed: object) -> str:
    """Return the path of the file with another program's estimates, which the estimator `estimates`
    reads.
    """
    return pattern.replace("{dataset}", dataset).replace("{seed}", str(seed))


def files_read(
    name: str, values: Mapping[str, object], dataset: str, seeds: Iterable[object]
) -> list[str]:
    """Return the paths of the files that a model reads when it runs on a dataset, such as another
    program's estimates.

    For a custom model, the list contains each existing file whose path is a hyperparameter. For a
    model of this package, the list is empty unless the model is `estimates`.
    """
    if name == "estimates":
        files = set[str]()
        for seed in seeds:
            files.update(estimates_file(text, dataset, seed) for text in _texts_in(values))
        return sorted(files)
    if ":" in name:
        return sorted({text for text in _texts_in(values) if Path(text).is_file()})
    return []


def _texts_in(value: object) -> Iterator[str]:
    """Yield all non-empty strings in a YAML value, including strings in nested lists and
    mappings.
    """
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)
    elif isinstance(value, str) and value:
        yield value
