"""Threshold methods on sparse probability estimates: for the macro F-measure (plt2016, Section 4), and others."""

from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.common import CommonThreshold
from xmlc.thresholds.fta import FTA
from xmlc.thresholds.micro import MicroLabelWise
from xmlc.thresholds.ofo import OFO
from xmlc.thresholds.sto import STO

__all__ = ["FTA", "OFO", "STO", "CommonThreshold", "MicroLabelWise", "apply_thresholds"]
