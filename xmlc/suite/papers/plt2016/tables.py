"""The claims of plt2016, whose tables are in the package `common` for every suite."""

from xmlc.suite.papers.plt2016.claims import claims as claims
