"""config/tolerances.yaml and its schema."""

from pathlib import Path

import pytest
import yaml

from xmlc.errors import XmlcError
from xmlc.reports.columns import COLUMNS
from xmlc.reports.tolerances import EXACT, load_tolerances

FILE = Path(__file__).parents[2] / "config" / "tolerances.yaml"
PRINTED = {"units": 0.5, "reason": "rounded to the last digit"}
BOUND = {"names": ["p@1"], "absolute": 0.1, "reason": "for the sake of this test"}


def load(tmp_path, content):
    path = tmp_path / "tolerances.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_tolerances(path)


def test_the_projects_file():
    tolerances = load_tolerances(FILE)
    assert tolerances.units == 0.5
    names = {name for _, name in tolerances.columns}
    assert names <= set(COLUMNS)
    assert not any(COLUMNS[name].cost for name in names), "costs are never judged"
    assert all(len(bounds.reason) > 20 for bounds in tolerances.columns.values())
    judged = {name for name, column in COLUMNS.items() if column.unit == "%" and not column.cost}
    assert judged <= names
    assert tolerances.of("macro_f").allowed(40.0) == 0.2
    assert tolerances.of("macro_f_std") == tolerances.of("macro_f")
    assert not tolerances.of("c").judged
    assert tolerances.of("m").allowed(1e9) == 0


def test_exact_has_no_bounds():
    assert EXACT.units == 0
    assert EXACT.of("c").judged
    assert EXACT.of("macro_f").allowed(100.0) == 0


def test_bounds(tmp_path):
    bound = BOUND | {"relative": 0.01}
    bounds = load(tmp_path, {"printed": PRINTED, "columns": [bound]}).of("p@1")
    assert bounds.allowed(5.0) == 0.1
    assert bounds.allowed(-50.0) == 0.5


def test_a_models_own_bounds_come_before_those_of_all(tmp_path):
    own = BOUND | {"models": ["fastxml", "ldsm"], "absolute": 2.0}
    tolerances = load(tmp_path, {"printed": PRINTED, "columns": [own, BOUND]})
    assert tolerances.of("p@1", "fastxml").absolute == tolerances.of("p@1_std", "ldsm").absolute == 2.0
    assert tolerances.of("p@1", "plt").absolute == tolerances.of("p@1").absolute == 0.1
    assert tolerances.of("p@3", "fastxml").absolute == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"printed": PRINTED, "columns": [BOUND], "extra": 1}, "extra"),
        ({"printed": PRINTED, "columns": [BOUND | {"absolut": 1}]}, "absolut"),
        ({"printed": PRINTED, "columns": [{"names": ["p@1"], "absolute": 1}]}, "reason"),
        ({"printed": PRINTED, "columns": [{"names": ["p@1"], "reason": BOUND["reason"]}]}, r"columns\[0\]"),
        ({"printed": PRINTED, "columns": [BOUND | {"absolute": -1}]}, "minimum"),
        ({"printed": PRINTED, "columns": [BOUND, BOUND]}, "'p@1' is named twice"),
        ({"columns": [BOUND]}, "printed"),
        ("printed: [", "cannot be read"),
        ("", "not of type 'object'"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, content, message):
    with pytest.raises(XmlcError, match=message):
        load(tmp_path, content)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(XmlcError, match="cannot be read"):
        load_tolerances(tmp_path / "nothing.yaml")
