"""Table 3: ranges, values, and who found them."""

import pytest
from built_tables import build_from
from report_cases import ranking, write
from suite_cases import write_suite

from xmlc.errors import XmlcError
from xmlc.papers.building import build_table
from xmlc.tables.render import to_csv, to_latex, to_markdown

USED = {"arity": 16, "gamma": 4.91, "lam": 2.64e-4, "solver": "sgd"}
PLT = {
    "tuning": {
        "arity": {"low": 2, "high": 256, "integer": True},
        "gamma": {"low": 1e-6, "high": 10, "log": True},
        "solver": ["sgd", "adagrad"],
    },
    "datasets": {"yeast": {"gamma": 4.91}, "scene": {"gamma": 0.5}},
    "found": {"yeast": {"by": "random search, 40 trials", "p@1": 0.7767}, "scene": {"by": "nobody", "p@1": 0.5}},
}
PUBLISHED = "dataset,model,hyperparameter,low,high\nall,plt,gamma,0.000001,10\n"


@pytest.fixture
def build(tmp_path):
    searched = {"plt": PLT, "oracle": {}}
    return lambda records, models=searched: build_from(tmp_path, "3", "plt2016", records, {"table3": PUBLISHED}, models)


def lines(panel):
    return [[text for text, _ in line] for line in panel.cells()]


def test_ranges_stand_beside_the_paper_s(build):
    table = build([ranking(hyperparameters=USED), ranking(model="oracle", hyperparameters={})])
    ranges, _ = table.panels
    assert ranges.headings() == ["Model", "Hyperparameter", "Low", "High", "Scale", "Low (paper)", "High (paper)"]
    assert lines(ranges) == [
        ["PLT", "arity b", "2", "256", "uniform, integers", "–", "–"],
        ["PLT", "gamma", "1e-06", "10", "logarithmic", "0.000001", "10"],
        ["PLT", "solver", "–", "–", "one of sgd, adagrad", "–", "–"],
    ]
    assert "Bold" not in to_markdown(table)
    assert to_latex(table).count(r"\begin{tabular}") == 2


def test_values_say_who_found_them(build):
    searched = {"method": "smac", "budget": 20, "seed": 0, "p@1": 0.8}
    records = [
        ranking(hyperparameters=USED, seed=0),
        ranking(hyperparameters=USED, seed=1),
        ranking("scene", hyperparameters=USED),  # not the value that the suite has for scene
        ranking("bibtex", hyperparameters=USED, tuning=searched),
    ]
    table = build(records)
    assert lines(table.panels[1]) == [
        ["yeast", "16", "4.91", "sgd", "77.67", "random search, 40 trials"],
        ["scene", "16", "4.91", "sgd", "–", "–"],
        ["bibtex", "16", "4.91", "sgd", "80.00", "SMAC, 20 trials"],
    ]
    rows = to_csv(table).splitlines()
    assert rows[1].startswith("all,plt,arity,2,256,")
    assert rows[4].startswith("yeast,plt,arity,,,,16,77.6")
    assert len(rows) == 1 + 3 + 3 * 3


AUTO = {"stages": [[{"learning_rate": 0.1}, {"learning_rate": 1}], [{"unit_norm": True}]]}


def test_a_dataset_that_nobody_tuned_has_the_values_of_its_own_search(build):
    """Also of models without ranges, which have no panel where nothing was searched for them."""
    search = {"method": "auto", "budget": 3, "seed": 0, "p@1": 0.8}
    used = {"learning_rate": 0.1, "unit_norm": True}
    models = {
        "plt": PLT | {"auto": {"stages": [[{"gamma": 1, "lam": 1}]]}},
        "ldsm": {"auto": AUTO},
        "swnn": {"auto": AUTO},
    }
    records = [
        ranking("my-set", hyperparameters=USED, tuning=search),
        ranking("my-set", "ldsm", hyperparameters=used, tuning=search),
        ranking("yeast", "ldsm", hyperparameters=used),
        ranking("yeast", "swnn", hyperparameters=used),
    ]
    table = build(records, models)
    plt, ldsm = table.panels[1:]
    assert plt.headings()[1:] == ["arity b", "gamma", "solver", "lambda", "P@1, validation (%)", "Found by"]
    assert lines(plt) == [["my-set", "16", "4.91", "sgd", "0.000264", "80.00", "auto, 3 trials"]]
    assert lines(ldsm) == [["my-set", "0.1", "true", "80.00", "auto, 3 trials"]]


def test_what_is_missing_is_named(build, tmp_path):
    with pytest.raises(XmlcError, match="no record is of a model with ranges; expected one of plt"):
        build([ranking(model="fastxml")])
    records = write(tmp_path / "more", [ranking()])
    with pytest.raises(XmlcError, match="--suite"):
        build_table("3", "plt2016", records)
    write_suite(tmp_path / "empty.yaml", {"plt": {}})
    with pytest.raises(XmlcError, match="no model has ranges"):
        build_table("3", "plt2016", records, None, tmp_path / "empty.yaml")
    with pytest.raises(XmlcError, match=r"absent\.yaml: No such file"):
        build_table("3", "plt2016", records, None, tmp_path / "absent.yaml")
