"""Collect the settings that the numbers in a table depend on.

The manifest next to the table contains the settings. Settings must be in the manifest because the next run overwrites
records, and because reference tables have no records. Settings are grouped by subject and then by name. A subject is a
dataset, a model on a dataset, or a method with a model on a dataset. The empty subject "" stands for the whole run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from xmlc.core.sources import PACKAGE, commit
from xmlc.suite.results.environments import environment_of
from xmlc.suite.results.records.base import Record, RecordFile

BETWEEN = " / "
RecordedSettings = dict[str, dict[str, object]]
VERSIONS = ("xmlc", "python", "numpy", "scipy", "numba", "sklearn")
SEEDS, DATA, CODE, COMMIT = "seeds", "data", "code", "commit"
DIGITS = 12
#: Keys in the field `settings` of a record that describe datasets, models and methods. Records of earlier versions lack
#: some of these keys.
OF_DATASETS, OF_MODELS, OF_CODE = ("validation_share", "propensity"), ("model code", "files"), ("method code",)
RECORDED = frozenset((*OF_DATASETS, *OF_MODELS, *OF_CODE))
# `OF_METHODS` lists the fields of a record that are settings of a method, in addition to the field ``grid``.
# `OF_SEARCHES` lists the settings of a search for hyperparameters.
OF_METHODS, OF_SEARCHES = ("samples", "time_limit"), ("method", "budget")


def settings_of(records: Iterable[RecordFile]) -> RecordedSettings:
    """Return the settings in the records, the versions of programs, and the digest and the commit of the code."""
    found: RecordedSettings = {"": {CODE: code_in_use(), COMMIT: commit()}}
    seeds: dict[str, set[int]] = {}
    for record in records:
        found[""] |= {name: text for name, text in environment_of(record).items() if name in VERSIONS}
        if record.data_digest:
            found.setdefault(record.dataset_name, {})[DATA] = record.data_digest[:DIGITS]
        if not isinstance(record, Record):
            continue
        subject = BETWEEN.join((record.dataset_name, record.model_name))
        seeds.setdefault(subject, set()).add(record.seed)
        of_model = found.setdefault(subject, {})
        of_model |= {SEEDS: sorted(seeds[subject]), "estimator": record.estimator, **record.hyperparameters}
        further = record.settings
        found[record.dataset_name] |= {name: further[name] for name in OF_DATASETS if name in further}
        of_model |= _joined(of_model, {name: further[name] for name in OF_MODELS if name in further})
        if search := getattr(record, "tuning", None):
            of_model["tuning"] = " ".join(str(search[name]) for name in OF_SEARCHES if name in search)
        if record.method_name:
            of_method = {name: getattr(record, name) for name in OF_METHODS if hasattr(record, name)}
            of_method |= {name: further[name] for name in OF_CODE if name in further}
            if grid := getattr(record, "grid", None):
                points = ((at.c,) if at.a is None else (at.a, at.b) for at in grid)
                of_method["grid"] = " ".join(":".join(f"{x:g}" for x in point if x is not None) for point in points)
            if estimates := getattr(record, "estimates", None):
                of_method["min_probability"] = estimates.min_probability
            found.setdefault(BETWEEN.join((subject, record.method_name)), {}).update(of_method)
    return found


def _joined(before: dict[str, object], new: dict[str, object]) -> dict[str, object]:
    """Return the settings ``new``, combined with the settings ``before``.

    The combined value of a setting is a text with all its distinct values.

    A setting has several values if, for example, each seed reads another file of estimates.
    """
    return {
        name: " ".join(dict.fromkeys([*str(before.get(name, "")).split(), *str(value).split()]))
        for name, value in new.items()
    }


def code_in_use() -> str:
    """Return a digest of the current Python files of the package."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGITS]
