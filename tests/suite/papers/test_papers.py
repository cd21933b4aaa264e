"""Test how tables and figures are found by name."""

from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import RANKINGS, Where
from xmlc.suite.config.suite import read_suites
from xmlc.suite.papers import (
    figure_of,
    modules_of,
    read_declared,
    table_of,
)
from xmlc.suite.papers.tables import TableSpec
from xmlc.suite.results.titles import model_title, name_models


def test_table_of_the_paper_precedes_the_common_table():
    own = table_of("table1", "gfm2011")
    common = table_of("table1", "plt2016")
    assert own is table_of("1", "gfm2011")
    assert own != common
    assert common == table_of("table1", "a-suite-without-a-room")
    assert figure_of("2", "oplt2021") is not figure_of("2", "ldsm2020")


def test_unknown_name_is_refused_with_names_of_the_paper():
    with raises_with(XmlcError, "table9", "gfm2011", "table4"):
        table_of("9", "gfm2011")
    with raises_with(XmlcError, "table7", "plt2016"):
        table_of("table7", "plt2016")  # The paper ldsm2020 has a Table 7.
    with raises_with(XmlcError, "figure7", "figure1"):
        figure_of("figure7", "plt2016")


def test_tables_yaml_names_constants_and_functions(tmp_path):
    file = tmp_path / "tables.yaml"
    entry = "needs: [RANKINGS, {kind: sweep}], keys: [KEYS, method], panels: [{quantities: [S]}]"
    file.write_text(f"mine: {{{entry}, rows: best, noted_by: [about]}}\n")
    known = {"KEYS": ("dataset", "model"), "RANKINGS": RANKINGS, "best": list}
    with raises_with(XmlcError, file, "noted_by", "'about'"):
        read_declared(file, TableSpec, known)
    table = read_declared(file, TableSpec, known | {"about": len})["mine"]
    assert (table.name, table.rows, table.noted_by) == ("mine", list, (len,))
    assert table.needs == (RANKINGS, Where("sweep"))
    assert table.keys == ("dataset", "model", "method")


def test_paper_depends_on_its_package_and_the_common_package():
    assert modules_of("ldsm2020", "table") == [
        "xmlc.suite.papers.ldsm2020.tables",
        "xmlc.suite.papers.ldsm2020.claims",
        "xmlc.suite.papers.common.tables",
    ]
    assert modules_of("demo", "figure") == ["xmlc.suite.papers.common.figures"]


def test_each_package_names_its_models_without_contradiction():
    assert model_title("swnn-searched") == "SWNN"
    assert model_title("oplt-b-3-passes") == "OPLT-B, 3 passes"
    assert model_title("mine") == "mine"
    with raises_with(XmlcError, "plt", "PLT", "tree"):
        name_models({"plt": "tree"})


def test_every_model_of_a_suite_has_a_printed_name():
    nameless = set()
    for name, suite in read_suites(ROOT / "config").items():
        for model in suite.all_models:
            if suite.titles.get(model, model_title(model)) == model:
                nameless.add((name, model))
    # The printed names of these models are their names in the suite.
    assert nameless == {("demo", "oracle"), ("demo", "one-vs-rest")}
