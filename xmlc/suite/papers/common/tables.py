"""List the tables that every suite has. A paper's table of the same name takes precedence."""

from xmlc.suite.papers.common.hyperparameters import table3 as table3
from xmlc.suite.papers.common.inference import instance_f as instance_f
from xmlc.suite.papers.common.rankings import baselines as baselines
from xmlc.suite.papers.common.rankings import passes as passes
from xmlc.suite.papers.common.rankings import table1 as table1
from xmlc.suite.papers.common.tail import calibration as calibration
from xmlc.suite.papers.common.tail import tail as tail
from xmlc.suite.papers.common.tail import tail_f as tail_f
from xmlc.suite.papers.common.thresholds import measures as measures
from xmlc.suite.papers.common.thresholds import table2 as table2
from xmlc.suite.papers.common.thresholds import table4 as table4
