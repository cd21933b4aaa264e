"""Figures of every suite; a figure of a paper's own with the same name takes precedence."""

from __future__ import annotations

from xmlc.papers.common.pareto import pareto as pareto
from xmlc.papers.oplt2021.figures import macrof as macrof
from xmlc.papers.plt2016.figures import figure1 as figure1
