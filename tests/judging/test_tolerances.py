"""config/tolerances.yaml and its schema."""

import pytest
import yaml
from repository import ROOT

from xmlc.errors import XmlcError
from xmlc.judging.tolerances import RUNS, load_tolerances
from xmlc.tables.columns import COLUMNS

FILE = ROOT / "config/tolerances.yaml"
REASON = "for the sake of this test"
CONTENT = {
    "printed": {"units": 0.5, "reason": REASON},
    "deviations": {"k": 3, "reason": REASON},
    "unjudged": [{"names": ["c"], "reason": REASON}],
    "measured": {
        "yeast": {"plt": {"runs": 5, "p@1": 0.2, "depth": 0.1}, "br": {"runs": 5}},
        "enron": {"plt": {"runs": 5, "p@1": 0.4}},
    },
}


def load(tmp_path, content):
    path = tmp_path / "tolerances.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_tolerances(path)


def test_the_projects_file():
    tolerances = load_tolerances(FILE)
    assert (tolerances.units, tolerances.k) == (0.5, 3)
    measured = tolerances.deviations.measured
    names = {name for models in measured.values() for entry in models.values() for name in entry} - {RUNS}
    assert names <= set(COLUMNS)
    assert not any(COLUMNS[name].cost for name in names), "costs are never judged"
    assert not tolerances.judged("c")
    assert tolerances.judged("macro_f_std")
    assert not tolerances.judged("train_seconds")


@pytest.mark.parametrize(
    ("column", "value", "model", "dataset", "expected"),
    [
        ("p@1", 70.0, "plt", "yeast", 0.6),
        ("p@1_std", 1.0, "plt", "yeast", 0.6),  # in points, whatever the value
        ("depth", 20.0, "plt", "yeast", 6.0),  # no percent: a share of the value
        ("p@1", 70.0, "plt", "scene", 1.2),  # not measured there: the largest of the others
        ("depth", 20.0, "plt", "enron", 0.0),  # measured there, and it did not vary
        ("p@1", 70.0, "br", "yeast", 0.0),
        ("p@1", 70.0, "ldsm", "yeast", 0.0),
        ("p@1", 70.0, None, None, 0.0),
    ],
)
def test_what_is_allowed_beyond_the_printed_digits(tmp_path, column, value, model, dataset, expected):
    tolerances = load(tmp_path, CONTENT)
    assert tolerances.beyond_print(column, value, model, dataset) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT | {"extra": 1}, "extra"),
        (CONTENT | {"printed": {"units": 0.5}}, "reason"),
        (CONTENT | {"deviations": {"k": -1, "reason": REASON}}, "minimum"),
        (CONTENT | {"unjudged": CONTENT["unjudged"] * 2}, "'c' is named twice"),
        (CONTENT | {"measured": {"yeast": {"plt": {"p@1": 0.1}}}}, "runs"),
        (CONTENT | {"measured": {"yeast": {"plt": {"runs": 5, "p@1": 0}}}}, "minimum"),
        ({"printed": CONTENT["printed"]}, "required property"),
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
