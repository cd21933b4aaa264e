"""Find the settings that differ between two runs. The settings are stored next to the tables of each run."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from xmlc.suite.results.settings import (
    BETWEEN,
    CODE,
    COMMIT,
    DATA,
    MACHINE,
    RECORDED,
    SEEDS,
    THREADS,
    UNKNOWN,
    VERSIONS,
    RecordedSettings,
    values_in,
)

# Sort keys of settings. The default is 1.
ORDER = {SEEDS: 0, DATA: 2} | dict.fromkeys(VERSIONS, 3) | {CODE: 4} | dict.fromkeys((*MACHINE, THREADS), 5)
TablePair = tuple[RecordedSettings, RecordedSettings]  # The settings of a table in the old and in the new run.
MOST_NAMES = 6  # The maximum number of models, or of datasets, that the text of a change names.


def changes_between(tables: Iterable[TablePair]) -> pd.DataFrame:
    """Return the settings that differ between two runs, for the datasets, models and methods that both runs have.

    Tables are compared one by one, because a run may have one value in some tables and another
    value in others. The columns are ``name``, ``old`` and ``new`` (texts), and lists of ``models``
    (with methods) and ``datasets``, which are empty for settings of the whole run. Changes of seeds
    come first, followed by changes of models and methods, of data, of versions, of code, and of the
    machine. A version that is unknown in a record counts as changed.
    """
    rows = []
    for old, new in tables:
        for subject in old:
            dataset, _, model = subject.partition(BETWEEN)
            before = old[subject]
            after = new.get(subject, before)
            for name in {**before, **after}:
                # A setting that an earlier version did not record does not differ.
                if name == COMMIT or (name in RECORDED and not (name in before and name in after)):
                    continue
                texts = [_text(name, before), _text(name, after)]
                values = values_in(before.get(name))
                if values == values_in(after.get(name)) and UNKNOWN not in values:
                    continue
                rows.append((ORDER.get(name, 1), name, *texts, model.replace(BETWEEN, " "), dataset))
    changes = pd.DataFrame(rows, columns=["order", "name", "old", "new", "models", "datasets"])
    groups = changes.groupby(["order", "name", "old", "new"], sort=False)[["models", "datasets"]]
    changes = groups.agg(lambda names: [name for name in names.unique() if name])
    return changes.reset_index().sort_values("order", kind="stable", ignore_index=True)


def _text(name: str, settings: dict[str, object]) -> str:
    """Return the value of a setting. If records differ, return each value with one of its records."""
    texts = []
    for value, records in values_in(settings.get(name)).items():
        if records:
            value += f" ({_some(records, 1)})"
        texts.append(value)
    text = ", ".join(texts)
    if name == CODE:
        return f"{text} ({settings.get(COMMIT) or 'no commit'})"
    return text


def _some(names: list[str], most: int = MOST_NAMES) -> str:
    more = []
    if len(names) > most:
        more = [f"{len(names) - most} more"]
    return ", ".join(names[:most] + more)


def settings_line(tables: Iterable[TablePair]) -> str:
    """Return one line with the settings that differ between two runs.

    Tables without settings on one of the sides are left out, because their models and datasets
    cannot be compared.
    """
    pairs = list(tables)
    known = [pair for pair in pairs if all(pair)]
    if not known:
        return "Settings that differ: unknown, because no table has its settings on both sides"
    texts = []
    for _, name, old, new, models, datasets in changes_between(known).itertuples(index=False, name=None):
        where = " on ".join(filter(None, [_some(models), _some(datasets)]))
        change = f"{name} {old} -> {new}"
        if old == new:
            change = f"{name} {old}, in other or unknown records"
        texts.append(f"{where}: {change}" if where else change)
    line = f"Settings that differ: {'; '.join(texts) or 'none that is known'}"
    if len(known) < len(pairs):
        line += f" ({len(known)} of {len(pairs)} tables have their settings on both sides)"
    return line
