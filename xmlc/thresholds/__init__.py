"""Threshold methods on sparse probability estimates: for the macro F-measure (plt2016, Section 4), and others.

They are imported when they are first asked for: the workflow reads a grid from this package at every start, which must
not wait for kernels.
"""

from __future__ import annotations

import importlib
from typing import Any

PUBLIC = {
    "FTA": "xmlc.thresholds.fta",
    "OFO": "xmlc.thresholds.ofo",
    "STO": "xmlc.thresholds.sto",
    "CommonThreshold": "xmlc.thresholds.common",
    "MicroLabelWise": "xmlc.thresholds.micro",
    "apply_thresholds": "xmlc.thresholds.apply",
}


def __getattr__(name: str) -> Any:
    if name in PUBLIC:
        return getattr(importlib.import_module(PUBLIC[name]), name)
    raise AttributeError(f"module 'xmlc.thresholds' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PUBLIC)
