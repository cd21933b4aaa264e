"""What every suite can draw, whoever's it is: a suite's own figure of the same name comes before."""

from __future__ import annotations

from xmlc.papers.common.pareto import pareto as pareto
from xmlc.papers.oplt2021.figures import macrof as macrof
from xmlc.papers.plt2016.figures import figure1 as figure1
