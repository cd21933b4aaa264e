"""Thresholds on sparse probability estimates, for macro-F (plt2016, Section 4) and other measures.

Names are imported on first use, so that the workflow reads a grid without loading kernels.
"""

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.thresholds.bounds import lower_bounds as lower_bounds
    from xmlc.thresholds.bounds import priors as priors
    from xmlc.thresholds.calibration import IsotonicCalibration as IsotonicCalibration
    from xmlc.thresholds.expected import ExpectedF as ExpectedF
    from xmlc.thresholds.fta import FTA as FTA
    from xmlc.thresholds.label_sets import LabelSets as LabelSets
    from xmlc.thresholds.methods import apply_thresholds as apply_thresholds
    from xmlc.thresholds.ofo import OFO as OFO
    from xmlc.thresholds.one_pass import fit_in_one_pass as fit_in_one_pass
    from xmlc.thresholds.out_of_fold import OutOfFold as OutOfFold
    from xmlc.thresholds.pooled import CommonThreshold as CommonThreshold
    from xmlc.thresholds.sto import STO as STO
    from xmlc.thresholds.sweeps import tune as tune

lazy_names(__name__)
