"""Import Figure 1 of plt2016, which the package `common` defines for every suite."""

from xmlc.suite.papers.common.curves import figure1 as figure1
