"""Figure 1 of plt2016, which stands in the room `common`, as every suite has it."""

from xmlc.suite.papers.common.curves import figure1 as figure1
