"""Accepted tables: what is copied over them, and what stays."""

import pytest

from xmlc.errors import XmlcError
from xmlc.judging.accept import accept

OLD = "dataset,model,p@1,seeds\nyeast,plt,2.50,1\n"
MADE = "dataset,model,p@1,train_seconds,train_seconds_std,train_threads,seeds\nyeast,plt,1.50,9.5,,2,1\n"
NEW = OLD.replace("plt,2.50", "plt,1.50")  # without the costs, and digit by digit as it was made


def test_accepting_takes_the_tables_that_were_made_without_costs_and_no_others(tmp_path):
    made, reference = tmp_path / "made", tmp_path / "reference"
    files = {"made/paper/table2": MADE, "made/paper/table5": MADE, "made/other/table1": MADE}
    files |= {"reference/paper/table1": OLD, "reference/paper/table2": OLD}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.csv").write_text(text)
    said = accept(made, reference)
    assert [(file.name, line.split(",")[0]) for file, line in said] == [
        ("table2.csv", "1 of 2 cells equal"),  # the number of seeds is as before
        ("table5.csv", "new table"),
    ]
    found = {str(file.relative_to(reference)): file.read_text() for file in sorted(reference.rglob("*.csv"))}
    assert found == {"paper/table1.csv": OLD, "paper/table2.csv": NEW, "paper/table5.csv": NEW}
    with pytest.raises(XmlcError, match="no table of a suite that"):
        accept(reference, made / "other")
