"""Estimators by the names that configuration files use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from xmlc.core.checksums import check_file
from xmlc.core.errors import XmlcError
from xmlc.core.extensions import import_file
from xmlc.core.files import read_json
from xmlc.kernels.estimator import Hyperparameters

if TYPE_CHECKING:
    from xmlc.kernels.domains import Domain
    from xmlc.models.base import SparseProbabilityEstimator

ESTIMATORS = {
    "plt": "xmlc.models.plt:PLT",
    "parabel": "xmlc.models.parabel:Parabel",
    "fastxml": "xmlc.models.fastxml:FastXML",
    "ldsm": "xmlc.models.ldsm:LdSM",
    "oplt": "xmlc.models.oplt:OPLT",
    "br": "xmlc.models.linear.binary_relevance:BinaryRelevance",
    "pcc": "xmlc.models.linear.classifier_chain:ProbabilisticClassifierChain",
    "swnn": "xmlc.models.nearest:SparseWeightedNearestNeighbors",
    "oracle": "xmlc.models.oracle:Oracle",
    "estimates": "xmlc.models.oracle:Estimates",
    "napkinxc-plt": "xmlc.models.peers.napkinxc:NapkinXCPLT",
    "napkinxc-oplt": "xmlc.models.peers.napkinxc:NapkinXCOPLT",
    "napkinxc-iplt": "xmlc.models.peers.napkinxc:NapkinXCIPLT",
    "omikuji-parabel": "xmlc.models.peers.omikuji:OmikujiParabel",
    "vw-cmt": "xmlc.models.peers.vowpalwabbit:VowpalWabbitCMT",
}


def estimator_class(name: str) -> type[SparseProbabilityEstimator]:
    """Return the class of an estimator.

    Parameters
    ----------
    name : str
        A name of `ESTIMATORS`, or ``path/to/file.py:ClassName`` for one of the user's own.

    Raises
    ------
    XmlcError
        There is no such estimator, or it does not derive from `SparseProbabilityEstimator`.
    """
    from xmlc.models.base import SparseProbabilityEstimator  # SciPy; who asks for files or names needs none

    if ".py:" in name:
        file, _, attribute = name.rpartition(":")
        module = import_file(file)
    elif name in ESTIMATORS:
        module_name, _, attribute = ESTIMATORS[name].partition(":")
        module = importlib.import_module(module_name)
    else:
        known = ", ".join(sorted(ESTIMATORS))
        raise XmlcError(f"estimator {name!r} is unknown; expected one of {known}, or path/to/file.py:ClassName")
    found = getattr(module, attribute, None)
    if not (isinstance(found, type) and issubclass(found, SparseProbabilityEstimator)):
        raise XmlcError(f"{name}: expected a class derived from xmlc.models.base.SparseProbabilityEstimator")
    return found


def make_estimator(
    name: str, parameters: Hyperparameters, seed: int, n_jobs: int | None = None
) -> SparseProbabilityEstimator:
    """Construct an estimator, with ``seed`` and ``n_jobs`` where it takes them.

    Raises
    ------
    XmlcError
        A hyperparameter is not one of the estimator's.
    """
    estimator = estimator_class(name)()
    known = estimator.get_params()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise XmlcError(
            f"{name} has no hyperparameter {', '.join(unknown)}; expected any of {', '.join(sorted(known))}"
        )
    common = {"random_state": seed, "n_jobs": n_jobs}
    return estimator.set_params(**{key: value for key, value in common.items() if key in known}, **parameters)


def load_estimator(name: str, folder: Path, n_jobs: int | None = None) -> SparseProbabilityEstimator:
    """Load a trained model, with ``n_jobs`` where it takes it.

    Raises
    ------
    XmlcError
        There is no such estimator, or the folder holds no model of it.
    """
    model = estimator_class(name).load(folder)
    return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


def load_model(path: str | Path) -> SparseProbabilityEstimator:
    """Read a model that an estimator of this package wrote by ``save``, whichever it is.

    Raises
    ------
    XmlcError
        The folder holds no model, a changed one, or one of an estimator of the user's own, which its class loads.
    """
    from xmlc.models.base import DESCRIPTION

    described, found = Path(path) / DESCRIPTION, ""
    if described.exists():
        check_file(described)
        found = str(read_json(described).get("estimator"))
    names = [name for name, target in ESTIMATORS.items() if target.endswith(f":{found}")]
    if not names:
        expected = "a folder that `save` of an estimator of xmlc.models has written"
        raise XmlcError(f"{path}: found {f'a model of {found}' if found else 'no model'}, expected {expected}")
    return estimator_class(names[0]).load(path)


def domains_of(name: str) -> Mapping[str, Domain] | None:
    """Return the domains of an estimator's hyperparameters without importing it; None if only it knows them."""
    module = f"xmlc.models.domains.{name}"
    known: Mapping[str, Domain] | None = importlib.import_module(module).DOMAINS if find_spec(module) else None
    return known


def estimator_files(name: str) -> list[str]:
    """Return the source files that define an estimator: the workflow looks for changes from there."""
    if ".py:" in name:
        return [name.rpartition(":")[0]]
    module = ESTIMATORS[name].partition(":")[0] if name in ESTIMATORS else "xmlc.models.registry"
    spec = find_spec(module)
    return [str(spec.origin)] if spec and spec.origin else []
