"""The code on which a result depends, identified by a digest.

A step depends on its module, the modules of its model, and all that these import, directly or
indirectly, so that the lists below have only exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.core.sources import PACKAGE, source_digest
from xmlc.models.registry import ESTIMATORS, registered_name
from xmlc.suite.provenance.sources import source_files

WRAPPED = "xmlc.models.wrapped"
#: Modules whose edits make no result stale, although steps or estimators import them. They still
#: count for a user's file that imports them.
NO_EFFECT = (
    "xmlc.core.progress",
    "xmlc.core.sources",
    "xmlc.suite.provenance.code",
    "xmlc.suite.provenance.sources",
    "xmlc.models.label_sets",  # the method `predict`, which no step calls
    WRAPPED,  # counts for models of other libraries, see `estimator_files`
)
#: The same for single steps. These two compute no measure, although the modules of records name
#: some. A model that trains with measures is trained, and so ranks, again.
NO_EFFECT_ON = {"estimate": ("xmlc.metrics",), "rank": ("xmlc.metrics",)}
#: Estimators that train others by default, which they import by name
MEMBERS = {"stacking": ("plt", "swnn")}


def step_files(command: str, *modules: str) -> list[str]:
    """Return the files that a step depends on, including further modules and users' files."""
    if not (PACKAGE / "suite/steps" / f"{command}.py").is_file():
        raise XmlcError(f"found no step {command}, expected a command in xmlc/suite/steps/")
    without = NO_EFFECT + NO_EFFECT_ON.get(command, ())
    return source_files(f"xmlc.suite.steps.{command}", *modules, without=without)


def estimator_files(name: str) -> list[str]:
    """Return the modules and users' files on which an estimator depends.

    Modules of xmlc have dotted names, because imports of paths would be followed like those in a
    user's folder, which for an installed xmlc contains all other libraries. A class of another
    library counts only if the library is under development (not in site-packages).
    """
    name = registered_name(name)
    if name in ESTIMATORS:
        names = [name, *MEMBERS.get(name, ())]
        return [ESTIMATORS[name].partition(":")[0] for name in names]
    place = name.rpartition(":")[0]
    if ".py:" in name:
        return [place, WRAPPED]
    spec = None
    if place:
        spec = find_spec(place)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return [WRAPPED]
    if {"site-packages", "dist-packages"} & {*Path(spec.origin).parts}:
        return [WRAPPED]
    return [spec.origin, WRAPPED]


def user_digest(files: Iterable[str]) -> str:
    """Return a digest, or "", of users' files and the modules that they import from their
    folders.
    """
    own = [
        file
        for file in files
        if file.endswith(".py") and PACKAGE not in Path(file).resolve().parents
    ]
    if own:
        return source_digest(source_files(*own, package=False))
    return ""
