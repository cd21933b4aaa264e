"""Tables and figures by name: a paper's own before the common one."""

import pytest

from xmlc.errors import XmlcError
from xmlc.tables.registry import Registry


@pytest.fixture
def registry():
    registry = Registry("table")
    registry.add("table1", "common")
    registry.add("table2", "second")
    registry.add("table1", "own", paper="gfm2011")
    return registry


def test_a_papers_own_comes_first_and_others_have_the_common_one(registry):
    assert registry.of("table1", "gfm2011") == registry.of("1", "gfm2011") == "own"
    assert registry.of("table1", "plt2016") == registry.of("1", "demo") == "common"
    assert registry.of("2", "gfm2011") == "second"
    assert registry.named("table1") == ["common", "own"]
    assert registry.names() == ["table1", "table2"]
    assert ("gfm2011", "table1", "own") in registry.every()


def test_an_unknown_name_is_refused_with_those_that_this_paper_has(registry):
    registry.add("table7", "foreign", paper="other")
    with pytest.raises(XmlcError, match=r"table 'table9' is unknown; expected one of table1, table2$"):
        registry.of("9", "gfm2011")
    with pytest.raises(XmlcError, match="'table7' is unknown"):
        registry.of("table7", "plt2016")
