"""Settings that the numbers in a table depend on, and those that differ between two runs.

They are in the manifest next to the table, because the next run overwrites records, and reference
tables have none. Each belongs to a subject: a dataset, a model on a dataset, a method with a model
on a dataset, or "" for the whole run. Its text lists every value if records differ, for example
because a model was trained with an earlier NumPy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.environment import commit
from xmlc.suite.results.records.base import Record, RecordFile
from xmlc.suite.words import some

BETWEEN = " / "
RecordedSettings = dict[str, dict[str, object]]
OF_RUN = ("xmlc", "python", "numpy", "scipy", "numba", "sklearn", "machine", "cpu", "threads")
CODE = "code"
COMMIT = "commit"
DIGITS = 12
#: Manifests of earlier versions lack these, so they differ only if both sides have them.
RECORDED = {
    "validation_share",
    "propensity",
    "model code",
    "files",
    "method code",
    "machine",
    "cpu",
    "threads",
}


def settings_of(records: Iterable[RecordFile]) -> RecordedSettings:
    """Return the settings in records, with digest and commit of the code, as texts."""
    values: dict[str, dict[str, set[str]]] = {}
    for record in records:
        for subject, name, value in _settings_in(record):
            values.setdefault(subject, {}).setdefault(name, set()).add(text_of(value))
    settings: RecordedSettings = {}
    for subject, of_subject in values.items():
        settings[subject] = {name: " ".join(sorted(texts)) for name, texts in of_subject.items()}
    settings.setdefault("", {}).update({CODE: code_in_use(), COMMIT: commit()})
    return settings


def _settings_in(record: RecordFile) -> Iterator[tuple[str, str, object]]:
    environment = getattr(record, "environment", None) or {}
    for name in OF_RUN:
        if name in environment:
            yield "", name, environment[name]
    dataset = record.dataset_name
    if record.data_digest:
        yield dataset, "data", record.data_digest[:DIGITS]
    if not isinstance(record, Record):
        return
    model = dataset + BETWEEN + record.model_name
    of_model = {
        "seeds": record.seed,
        "estimator": record.estimator,
        **record.hyperparameters,
        **record.settings,
    }
    search = getattr(record, "tuning", None)
    if search:
        of_model["tuning"] = [search[name] for name in ("method", "budget") if name in search]
    for name, value in of_model.items():
        yield model, name, value
    method = model
    if record.method_name:
        method += BETWEEN + record.method_name
    for name in ("samples", "time_limit"):
        if hasattr(record, name):
            yield method, name, getattr(record, name)
    grid = getattr(record, "grid", None)
    if grid:
        yield (
            method,
            "grid",
            [":".join(map(text_of, filter(None, (one.c, one.a, one.b)))) for one in grid],
        )
    estimates = getattr(record, "estimates", None)
    if estimates:
        yield method, "min_probability", estimates.min_probability


def text_of(value: object) -> str:
    """Return a setting as text, so that equal numbers such as 8 and 8.0 have equal texts."""
    if isinstance(value, list | tuple):
        return " ".join(map(text_of, value))
    # Manifests of earlier versions name the records of each value.
    if isinstance(value, dict):
        return text_of([*value.get("differs", value)])
    if value is None:
        return "none"
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return str(value)


def code_in_use() -> str:
    """Return a digest of the package's Python files."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGITS]


def settings_line(pairs: Iterable[tuple[RecordedSettings, RecordedSettings]]) -> str:
    """Return one line with the settings that differ between two runs, those of the whole run last.

    Each pair has the settings of one table in both runs. Only subjects in both are compared, table
    by table, because a run may have different values in different tables.
    """
    known = [pair for pair in pairs if all(pair)]
    if not known:
        return "Settings that differ: unknown, because no table has its settings on both sides"
    # Models and datasets of each change, in dicts because sets have no order
    places: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for old, new in known:
        for subject in [subject for subject in old if subject in new]:
            dataset, _, model = subject.partition(BETWEEN)
            for change in _changes(old[subject], new[subject]):
                models, datasets = places.setdefault(change, ({}, {}))
                models[model.replace(BETWEEN, " ")] = None
                datasets[dataset] = None
    texts = []
    for change in sorted(places, key=lambda change: "" in places[change][1]):
        names = [some([*filter(None, part)], ", ") for part in places[change]]
        texts.append(": ".join(filter(None, (" on ".join(filter(None, names)), change))))
    return f"Settings that differ: {'; '.join(texts) or 'none that is known'}"


def _changes(before: dict[str, object], after: dict[str, object]) -> Iterator[str]:
    for name in {**before, **after}:
        old = text_of(before.get(name))
        new = text_of(after.get(name))
        is_recorded = name not in RECORDED or (name in before and name in after)
        if old == new or name == COMMIT or not is_recorded:
            continue
        if name == CODE:
            old, new = (
                f"{one[CODE]} ({one.get(COMMIT) or 'no commit'})" for one in (before, after)
            )
        yield f"{name} {old} -> {new}"
