"""Every table as transcribed: its keys, its columns and its source."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.papers import table_of
from xmlc.tables.columns import COLUMNS

FOLDER = ROOT / "results/published"


FILES = sorted(file for file in FOLDER.glob("*/*.csv") if file.parent.name != "tuning")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_table_has_unique_keys_in_front_and_a_source(file):
    frame = pd.read_csv(file, dtype=str)
    keys = table_of(file.stem, file.parent.name).keys
    assert tuple(frame.columns[: len(keys)]) == keys
    assert not frame.duplicated(list(keys)).any()
    assert set(frame.columns) <= set(COLUMNS)
    assert not frame.isna().any().any()
    assert file.name in (file.parent / "README.md").read_text(encoding="utf-8")
