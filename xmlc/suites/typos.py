"""Names that do not exist, found before anything runs: estimators, hyperparameters, targets, datasets, mirrors.

A mistake is one sentence with the nearest name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from xmlc.data.archives import SUFFIXES
from xmlc.data.catalogue import Dataset
from xmlc.data.download import mirror_at
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.gate.domains import DOMAINS, LABELS_PER_INSTANCE
from xmlc.models.registry import ESTIMATORS
from xmlc.schemas.reading import nearest
from xmlc.suites.suite import ModelSpec, Suite


def refuse(message: str) -> NoReturn:
    """End a run of Snakemake with one sentence; its own exceptions come with frames of this package's files."""
    sys.exit(f"xmlc: error: {message}")


def check_models(suite: Suite) -> None:
    """Check the models of a suite: that their estimators are there, and their hyperparameters known and in range.

    Hyperparameters of baselines and of users' own models are known only where these are imported: they are checked when
    a job begins.

    Raises
    ------
    XmlcError
        With what was found and expected.
    """
    for name, model in suite.all_models.items():
        where = f"{suite.file}: model {name}: "
        if ".py:" in model.estimator:
            _check_own(model.estimator, where)
        elif model.estimator not in ESTIMATORS:
            expected = nearest(model.estimator, ESTIMATORS)
            raise XmlcError(f"{where}no estimator {model.estimator}, expected {expected} or path/to/file.py:ClassName")
        else:
            _check_values(model, ESTIMATORS[model.estimator].rpartition(":")[2], where)


def _check_own(estimator: str, where: str) -> None:
    file, _, name = estimator.rpartition(":")
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["a file of yours"])
        raise XmlcError(f"{where}no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    if not re.search(rf"\b{re.escape(name)}\b", text):
        expected = nearest(name, re.findall(r"^class (\w+)", text, re.MULTILINE) or ["a class of it"])
        raise XmlcError(f"{where}{file} has no class {name}, expected {expected}")


def _check_values(model: ModelSpec, kind: str, where: str) -> None:
    domains = DOMAINS.get(kind)
    if domains is None:
        return
    for values in _values(model):
        for name, value in values.items():
            if name not in domains:
                raise XmlcError(
                    f"{where}{model.estimator} has no hyperparameter {name}, expected {nearest(name, domains)}"
                )
            if value != LABELS_PER_INSTANCE and value not in domains[name]:
                raise XmlcError(f"{where}{name}: found {value!r}, expected {domains[name]}")


def _values(model: ModelSpec) -> Iterator[Hyperparameters]:
    yield from (model.hyperparameters, *model.datasets.values(), *model.whole.values())
    searches = [model.search or [], *model.further_search.values(), model.auto.stages if model.auto else []]
    yield from (trial for stages in searches for stage in stages for trial in stage)
    yield model.auto.in_trials if model.auto else {}


def check_targets(targets: Iterable[str], rules: Iterable[str], known: Iterable[str]) -> None:
    """Refuse targets that are neither rules nor files of a run, which all lie in folders.

    Parameters
    ----------
    targets, rules : iterable of str
    known : iterable of str
        Datasets of the catalogue.

    Raises
    ------
    XmlcError
        With the nearest name, or the way to select a dataset.
    """
    rules = list(rules)
    for target in targets:
        if target in rules or "/" in target or Path(target).exists():
            continue
        if target in known:
            raise XmlcError(f"target {target}: this dataset is not selected; add --config datasets='[{target}]'")
        raise XmlcError(f"no target {target}, expected {nearest(target, rules)}")


def check_sources(entries: Iterable[Dataset], mirror: str | None, resources: Path, known: Iterable[str]) -> None:
    """Check that each of some datasets, which are to be fetched, has an address or lies in the mirror.

    Mirrors of the web are not asked.

    Parameters
    ----------
    entries : iterable of Dataset
    mirror : str or None
    resources : Path
        The folder for downloads, with those by hand.
    known : iterable of str
        Datasets of the catalogue.

    Raises
    ------
    XmlcError
        With datasets of nearly this name.
    """
    entries, place = list(entries), mirror_at(mirror) if mirror else None
    folder = Path(place.base) if place and not place.is_url else None
    if entries and place and not place.is_there:
        raise XmlcError(place.lacks(""))
    for entry in entries:
        has_address = any(kind != "source" for one in (entry, *entry.alternatives) for kind, _ in one.sources)
        by_hand = resources / "manual" / entry.name
        if has_address or by_hand.is_dir() or (place and place.is_url):
            continue
        if folder and any((folder / entry.name / f"{entry.train[0]}{suffix}").is_file() for suffix in SUFFIXES):
            continue
        there = [one.name for one in folder.iterdir() if one.is_dir()] if folder else []
        found = f"the mirror has no {entry.name}/{entry.train[0]}" if folder else "no mirror is given"
        expected = " or ".join(get_close_matches(entry.name, sorted({*there, *known}))) or "a mirror that has it"
        raise XmlcError(
            f"dataset {entry.name}: the catalogue knows no address for it, and {found}; expected {expected}"
        )
