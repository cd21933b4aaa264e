"""What a task of an estimator does, counted, and the same memory accesses with hardly anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A task of an estimator, such as its training, beside its bare accesses.

    Both are called once before they are measured, so that kernels are compiled. The bare accesses touch what the task
    must touch, in its order, with the arithmetic that cannot be left out; the docstring of their kernel says what it
    leaves out. Where the whole would take too long they may be those of a part: ``bare_units`` says of how much.
    """

    #: Who, such as "FastXML, 10 trees".
    contender: str
    #: `xmlc.bench.harness.TRAINING` or `PREDICTION`, or another that one phrase names.
    task: str
    #: What its work is in proportion to, such as "non-zero x node".
    unit: str
    #: How many of them a call of the task has.
    units: float
    #: The task on so many threads; returns every array of its result, to be compared bit by bit.
    call: Callable[[int], Arrays]
    #: The bare accesses on so many threads, shared out as fixed pieces of about equal cost.
    bare: Callable[[int], object]
    #: How many units the bare accesses have.
    bare_units: float
    #: What the units do not say, in a phrase.
    note: str = ""
