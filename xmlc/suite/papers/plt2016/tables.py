"""Import the claims of plt2016. The package `common` defines its tables, for every suite."""

from xmlc.suite.papers.plt2016.claims import claims as claims
