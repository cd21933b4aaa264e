"""What a printed number is: only what a paper measured itself can be reproduced."""

from __future__ import annotations

from enum import StrEnum

from xmlc.tables.columns import column
from xmlc.tables.table import TableDefinition


class Kind(StrEnum):
    """The kinds of printed cells, each of which is counted apart."""

    MEASURED = "measured"
    DATASET = "statistics of datasets"
    CONFIGURATION = "configuration"
    QUOTED = "quoted from other work"
    COST = "costs"


def kind_of(name: str, definition: TableDefinition | None = None, model: str | None = None) -> Kind:
    """Return the kind of a printed cell.

    Parameters
    ----------
    name : str
        Its column.
    definition : TableDefinition or None
        Its table, which names the models that the paper measured itself.
    model : str or None
        The model of its row.
    """
    about = column(name)
    if about.cost:
        return Kind.COST
    if about.kind != "measure":
        return Kind.DATASET if about.kind == "constant" else Kind.CONFIGURATION
    own = definition.measured_models if definition is not None else ()
    return Kind.QUOTED if own and model is not None and model not in own else Kind.MEASURED
