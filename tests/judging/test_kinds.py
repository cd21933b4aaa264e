"""What kind a printed number is of."""

import pytest

from xmlc.judging.kinds import Kind, kind_of
from xmlc.papers import table_of


@pytest.mark.parametrize(
    ("paper", "table", "column", "model", "kind"),
    [
        ("plt2016", "table1", "n_train", "plt", Kind.DATASET),
        ("plt2016", "table1", "p@1", "plt", Kind.MEASURED),
        ("plt2016", "table1", "p@1", "fastxml", Kind.MEASURED),  # which its authors ran themselves
        ("plt2016", "table2", "test_ms", "plt", Kind.COST),
        ("plt2016", "table2", "inner_products", "plt", Kind.MEASURED),  # counted, not timed
        ("plt2016", "table3", "low", "plt", Kind.CONFIGURATION),
        ("plt2016", "table4", "a", "plt", Kind.CONFIGURATION),
        ("ldsm2020", "table7", "p@1", "ldsm", Kind.MEASURED),
        ("ldsm2020", "table7", "p@1", "fastxml", Kind.QUOTED),
        ("ldsm2020", "table4", "depth", None, Kind.MEASURED),
        ("swnn2018", "table6", "S", "swnn-searched", Kind.CONFIGURATION),
        ("swnn2018", "table6", "max_p@3", "swnn-searched", Kind.DATASET),
        ("swnn2018", "table6", "p@1", "dismec", Kind.QUOTED),
        ("gfm2011", "table1", "instance_f", "br", Kind.MEASURED),
        ("oplt2021", "table2", "train_cpu_minutes", "iplt", Kind.COST),
    ],
)
def test_the_kind_of_a_printed_number(paper, table, column, model, kind):
    assert kind_of(column, table_of(table, paper), model) is kind
