"""Estimators by the names that configuration files use."""

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

#: The estimators of this package that learn from training data.
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
#: Estimators' names by class names in lower case.
CLASS_NAMES = {place.rpartition(":")[2].lower(): name for name, place in ESTIMATORS.items()}
PRESET = "plt-ranking"  # name of `PLT.for_ranking`
#: Names that ``xmlc fit --estimator`` takes, and that messages suggest.
TRAINABLE = (*LEARNERS, PRESET)
DEFAULT = "stacking"  # for `xmlc.TextClassifier` and `xmlc fit`
# the same for streams
STREAMING = "oplt"
_BASELINE = re.compile(r"(xmlc\.models\.(?=vowpal)|benchmarks/baselines/)(?P<program>[a-z]+)")


def registered_name(name: str) -> str:
    """Return the key of `ESTIMATORS` for an estimator of this package, such as "plt" for "PLT" or
    "xmlc.models:PLT", and any other name unchanged.
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

    The name is a key of `ESTIMATORS`, `PRESET`, a class of this package such as ``PLT``,
    ``package.module:ClassName`` for another library, or ``path/to/file.py:Name`` for your own class
    or function. Unless it derives from `SparseProbabilityEstimator`, `xmlc.models.wrapped` has to
    wrap it.

    Raises
    ------
    XmlcError
        The estimator does not exist, or has no ``fit`` or no ``predict_proba``.
    """
    name = registered_name(name)
    if name == PRESET:
        return estimator_class("plt").for_ranking
    if name in ESTIMATORS:
        module_name, _, attribute = ESTIMATORS[name].partition(":")
        return getattr(importlib.import_module(module_name), attribute)
    from xmlc.models import wrapped  # loads SciPy, which is slow

    if ".py:" in name:
        file, _, attribute = name.rpartition(":")
        module = import_file(file)
        if not hasattr(module, attribute):
            raise wrapped.no_class(name, module)
        found = getattr(module, attribute)
    elif ":" in name:
        found = wrapped.class_of(name)
    else:
        expected = f"{nearest(name, TRAINABLE)}, module:Class or path/to/file.py:Class"
        raise InvalidParameterError(f"found estimator {name!r}, expected {expected}")
    if not isfunction(found):
        wrapped.check_wrapped_methods(name, found)
    return found


def _is_ours(found: object) -> bool:
    # inside the function, because it loads SciPy, which is slow
    from xmlc.models.base import SparseProbabilityEstimator

    return isinstance(found, type) and issubclass(found, SparseProbabilityEstimator)


def make_estimator(
    name: str, parameters: Hyperparameters, seed: int, n_jobs: int | None = None
) -> SparseProbabilityEstimator:
    """Construct an estimator, with ``seed`` and ``n_jobs`` if it accepts them.

    A hyperparameter that it lacks raises an `XmlcError`, as does an estimator of another library
    that does not estimate label sets.
    """
    from xmlc.models import wrapped

    name = registered_name(name)
    found = estimator_class(name)
    if name != PRESET and not _is_ours(found):
        return wrapped.adapt(name, found, parameters, seed, n_jobs)
    estimator: SparseProbabilityEstimator = found()
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

    A model of another library is trusted: code from the folder runs when it is read.
    """
    from xmlc.models.wrapped import Wrapped

    found = estimator_class(name)
    model = (found if _is_ours(found) else Wrapped).load(folder, trusted=True)
    if "n_jobs" in model.get_params():
        return model.set_params(n_jobs=n_jobs)
    return model


def load_model(path: str | Path, trusted: bool = False) -> SparseProbabilityEstimator:
    """Read a model that any estimator of this package has saved.

    Parameters
    ----------
    path : str or Path
    trusted : bool
        Allow models of other libraries, which run code from the folder when they are read.

    Returns
    -------
    SparseProbabilityEstimator

    Raises
    ------
    XmlcError
        The folder has no model, one that was changed, one of another library without ``trusted``,
        or one of a custom class, which only the ``load`` of this class can read.

    See Also
    --------
    xmlc.models.base.SparseProbabilityEstimator : Has the method ``save``.
    xmlc.TextClassifier.load : Reads a classifier of texts.

    Examples
    --------
    >>> import tempfile
    >>> from xmlc import BinaryRelevance, load_model
    >>> folder = f"{tempfile.mkdtemp()}/model"
    >>> BinaryRelevance(C=1.0).fit([[0.0], [1.0]], [[1, 0], [0, 1]]).save(folder)
    >>> type(load_model(folder)).__name__
    'BinaryRelevance'
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
    """Return the name of the program that a baseline wraps, which its module has too, or ""."""
    found = _BASELINE.match(ESTIMATORS.get(name, name))
    if found:
        return found["program"]
    return ""


def estimates_file(pattern: str, dataset: str, seed: object) -> str:
    """Return the path of the file with another program's estimates for `estimates`."""
    return pattern.replace("{dataset}", dataset).replace("{seed}", str(seed))


def files_read(
    name: str, values: Mapping[str, object], dataset: str, seeds: Iterable[object]
) -> list[str]:
    """Return the paths of the files that a model reads when it runs on a dataset.

    For a custom model, these are all hyperparameters that are paths of existing files. Otherwise,
    only `estimates` reads any.
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
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)
    elif isinstance(value, str) and value:
        yield value
