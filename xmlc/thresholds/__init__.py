"""Threshold methods for the macro F-measure on sparse probability estimates (plt2016, Section 4)."""

from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.fta import FTA
from xmlc.thresholds.ofo import OFO
from xmlc.thresholds.sto import STO

__all__ = ["FTA", "OFO", "STO", "apply_thresholds"]
