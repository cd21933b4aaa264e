"""Settings that the numbers in a table depend on, and those that differ between two runs.

They are in the manifest next to the table, because the next run overwrites records, and reference tables
have none. Settings are grouped by subject and then by name. A subject is a dataset, a model on a dataset,
or a method with a model on a dataset. The empty subject "" stands for the whole run. If the records of a
table differ in a setting, for example because a model was trained with an earlier NumPy, its text lists
every value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import pandas as pd

from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.environment import commit
from xmlc.suite.results.environments import environment_of
from xmlc.suite.results.records.base import Record, RecordFile
from xmlc.suite.words import some

BETWEEN = " / "
RecordedSettings = dict[str, dict[str, object]]
OF_RUN = ("xmlc", "python", "numpy", "scipy", "numba", "sklearn", "machine", "cpu")
OF_MODELS = ("validation_share", "propensity", "model code", "files", "method code")
CODE = "code"
COMMIT = "commit"
THREADS = "threads"
DIGITS = 12
#: Settings that manifests of earlier versions lack, and which therefore do not differ if one side lacks them.
RECORDED = {*OF_MODELS, "machine", "cpu", THREADS}


def settings_of(records: Iterable[RecordFile]) -> RecordedSettings:
    """Return the settings in the records, and the digest and the commit of the code, as texts."""
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
    """Yield the subject, the name and the value of each setting of a record."""
    dataset = record.dataset_name
    environment = dict(environment_of(record))
    for name in OF_RUN:
        if name in environment:
            yield "", name, environment[name]
    if record.data_digest:
        yield dataset, "data", record.data_digest[:DIGITS]
    if not isinstance(record, Record):
        return
    subject = dataset + BETWEEN + record.model_name
    yield subject, "seeds", record.seed
    yield subject, "estimator", record.estimator
    for name, value in (record.hyperparameters | record.settings).items():
        yield subject, name, value
    search = getattr(record, "tuning", None)
    if search:
        yield subject, "tuning", [search[name] for name in ("method", "budget") if name in search]
    if record.method_name:
        subject += BETWEEN + record.method_name
    for name in ("samples", "time_limit"):
        if hasattr(record, name):
            yield subject, name, getattr(record, name)
    grid = getattr(record, "grid", None)
    if grid:
        yield subject, "grid", [":".join(map(text_of, filter(None, (one.c, one.a, one.b)))) for one in grid]
    estimates = getattr(record, "estimates", None)
    if estimates:
        yield subject, "min_probability", estimates.min_probability
    if THREADS in environment:
        yield subject, THREADS, environment[THREADS]


def text_of(value: object) -> str:
    """Return the value of a setting as text. Equal numbers have equal texts, such as 8 and 8.0."""
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
    """Return a digest of the current Python files of the package."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGITS]


def changes_between(tables: Iterable[tuple[RecordedSettings, RecordedSettings]]) -> pd.DataFrame:
    """Return the settings that differ between two runs, for the datasets, models and methods that both runs have.

    Tables are compared one by one, because a run may have one value in some tables and another
    value in others. The columns are ``change`` (text), and lists of ``models`` (with methods) and
    ``datasets``. Changes of the whole run come last.
    """
    rows = []
    for old, new in tables:
        for subject in [subject for subject in old if subject in new]:
            dataset, _, model = subject.partition(BETWEEN)
            before = old[subject]
            after = new[subject]
            for name in {**before, **after}:
                # A setting that an earlier version did not record does not differ.
                if name == COMMIT or (name in RECORDED and not (name in before and name in after)):
                    continue
                texts = [text_of(one.get(name)) for one in (before, after)]
                if texts[0] == texts[1]:
                    continue
                if name == CODE:
                    texts = [f"{one[CODE]} ({one.get(COMMIT) or 'no commit'})" for one in (before, after)]
                rows.append((f"{name} {texts[0]} -> {texts[1]}", model.replace(BETWEEN, " "), dataset))
    changes = pd.DataFrame(rows, columns=["change", "models", "datasets"])
    changes = changes.sort_values("datasets", key=lambda names: names == "", kind="stable")
    return changes.groupby("change", sort=False).agg(lambda names: [name for name in names.unique() if name])


def settings_line(pairs: Iterable[tuple[RecordedSettings, RecordedSettings]]) -> str:
    """Return one line with the settings that differ between two runs.

    Tables without settings on one of the sides are left out, because their models and datasets
    cannot be compared.
    """
    known = [pair for pair in pairs if all(pair)]
    if not known:
        return "Settings that differ: unknown, because no table has its settings on both sides"
    texts = []
    for change, models, datasets in changes_between(known).itertuples(name=None):
        places = " on ".join(filter(None, (some(models, ", "), some(datasets, ", "))))
        texts.append(f"{places}: {change}" if places else change)
    return f"Settings that differ: {'; '.join(texts) or 'none that is known'}"
