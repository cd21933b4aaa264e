"""Tables of every suite; a table of a paper's own with the same name takes precedence."""

from __future__ import annotations

from xmlc.papers.common.instance_f import instance_f as instance_f
from xmlc.papers.common.peers import peers as peers
from xmlc.papers.common.resources import resources as resources
from xmlc.papers.oplt2021.tables import passes as passes
from xmlc.papers.plt2016.tables import measures as measures
from xmlc.papers.plt2016.tables import table1 as table1
from xmlc.papers.plt2016.tables import table2 as table2
from xmlc.papers.plt2016.tables import table3 as table3
from xmlc.papers.plt2016.tables import table4 as table4
from xmlc.papers.scale.tables import growth as growth
from xmlc.papers.scale.tables import scale as scale
from xmlc.papers.swnn2018.tables import condensed as condensed
