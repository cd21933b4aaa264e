"""Deviations of our own runs, measured from tables, and the file that they go to."""

import shutil

import pytest
import yaml
from command_line import run
from repository import ROOT

from xmlc.errors import XmlcError
from xmlc.judging.deviations import deviations_over_seeds
from xmlc.judging.tolerances import load_tolerances

SEVERAL = """\
dataset,model,method,macro_f,macro_f_std,inner_products,inner_products_std,test_ms,test_ms_std,c,seeds
yeast,plt,fta,40.0,0.301,50.0,1.0,1.0,9.0,10,5
yeast,plt,sto,35.0,0.2,100.0,4.0,1.0,9.0,100,5
yeast,br,sto,35.0,0.0,,,1.0,9.0,100,4
yeast,pcc,sto,35.0,,100.0,,1.0,,100,1
"""
ONE = "dataset,model,p@1,seeds\nyeast,plt,1,1\n"


@pytest.fixture
def tables(tmp_path):
    def make(name, **texts):
        for table, text in texts.items():
            (tmp_path / name / "paper").mkdir(parents=True, exist_ok=True)
            (tmp_path / name / "paper" / f"{table}.csv").write_text(text)
        return tmp_path / name

    return make


def test_over_seeds_the_largest_of_the_rows_rounded_up(tables):
    found = deviations_over_seeds(tables("run", table2=SEVERAL, table1=ONE))
    assert found == {"yeast": {"plt": {"runs": 5, "macro_f": 0.31, "inner_products": 0.04}, "br": {"runs": 4}}}


def test_nothing_to_measure(tables, tmp_path):
    with pytest.raises(XmlcError, match="no table of several seeds"):
        deviations_over_seeds(tables("run", table1=ONE))
    with pytest.raises(XmlcError, match="no such folder"):
        deviations_over_seeds(tmp_path / "nothing")


def test_the_command_writes_measured_deviations_over_old_ones_and_keeps_the_rest(tables, tmp_path):
    file = tmp_path / "tolerances.yaml"
    shutil.copy(ROOT / "config/tolerances.yaml", file)
    before = file.read_text()
    several = tables("run", table2=SEVERAL)
    for _ in range(2):  # a second time changes nothing
        assert run("deviations", several, "--out", file) == 0
    tolerances = load_tolerances(file)
    assert tolerances.deviations.of("macro_f", 40.0, "plt", "yeast") == 0.31
    assert file.read_text().startswith(before.split("# Written by")[0])
    content, old = yaml.safe_load(file.read_text()), yaml.safe_load(before)
    assert content["measured"]["bibtex"] == old["measured"]["bibtex"]
    assert file.read_text().count("# Written by `xmlc deviations`") == 1
