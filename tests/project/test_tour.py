"""The notebook docs/tour.ipynb is stored without outputs, and its text agrees with its numbers."""

import json

import numpy as np
import pytest
from repository import ROOT

CELLS = json.loads((ROOT / "docs/tour.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_notebook_has_no_outputs():
    for cell in CELLS:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.slow
def test_text_agrees_with_numbers(monkeypatch):
    monkeypatch.chdir(ROOT / "docs")
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {}
    for code in CODE:
        exec(code, names)

    # each measure is highest with its own sets
    for measure in names["methods"]:
        scores = {row: values[measure] for row, values in names["rows"].items()}
        assert max(scores, key=scores.get) == f"sets for {measure}"
    never = [int(row["labels never predicted"]) for row in names["rows"].values()]
    assert never[2] < 10 < 95 < never[1] < 105

    # most estimates above the threshold of a rare label lie below the common threshold
    spe = names["spe"]
    estimates = spe.data[names["frequency"][spe.indices] < 10]
    labels = spe.indices[names["frequency"][spe.indices] < 10]
    own = estimates > names["methods"]["macro_f"].thresholds_[labels]
    common = estimates > names["methods"]["micro_f"].thresholds_[0]
    assert np.mean(common[own]) < 0.5

    table = names["table"]
    assert abs(table["difference"].xs("br", level="model")).max() < 0.05
    assert table.loc[("scene", "pcc", "h"), "difference"] > 6
    for _, rows in table.groupby(["dataset", "model"]):
        is_h = rows.index.get_level_values("method") == "h"
        gains = rows[~is_h].min() - rows[is_h].max()
        assert gains[["published", "xmlc"]].min() > 3
