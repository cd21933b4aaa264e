"""List the tables of plt2016.

The package `common` defines Tables 1 to 4, and two tables of measures, for every suite.
"""

from xmlc.suite.papers.common.hyperparameters import table3 as table3
from xmlc.suite.papers.common.inference import instance_f as instance_f
from xmlc.suite.papers.common.rankings import table1 as table1
from xmlc.suite.papers.common.thresholds import measures as measures
from xmlc.suite.papers.common.thresholds import table2 as table2
from xmlc.suite.papers.common.thresholds import table4 as table4
from xmlc.suite.papers.plt2016.claims import claims as claims
