"""Extreme multi-label classification with sparse probability estimates (SPE)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.compiling import compile_kernels as compile_kernels
    from xmlc.core.errors import InvalidDataError as InvalidDataError
    from xmlc.core.errors import InvalidParameterError as InvalidParameterError
    from xmlc.core.errors import XmlcError as XmlcError
    from xmlc.models import OPLT as OPLT
    from xmlc.models import PLT as PLT
    from xmlc.models import BinaryRelevance as BinaryRelevance
    from xmlc.models import FastXML as FastXML
    from xmlc.models import LdSM as LdSM
    from xmlc.models import Parabel as Parabel
    from xmlc.models import ProbabilisticClassifierChain as ProbabilisticClassifierChain
    from xmlc.models import SparseWeightedNearestNeighbors as SparseWeightedNearestNeighbors
    from xmlc.models import Stacking as Stacking
    from xmlc.models.registry import load_model as load_model
    from xmlc.models.texts import TextClassifier as TextClassifier
    from xmlc.thresholds import LabelSets as LabelSets

__version__ = "0.3.0"
lazy_names(__name__, "__version__", "set_progress")


def set_progress(shown: bool) -> None:
    """Switch the progress display of long calls on or off, for this process and its children.

    It is on by default, unless the environment contains ``XMLC_PROGRESS=0``.

    Parameters
    ----------
    shown : bool

    See Also
    --------
    compile_kernels : Compiles ahead, so that later calls have nothing to report.

    Examples
    --------
    >>> import xmlc
    >>> xmlc.set_progress(False)
    """
    os.environ["XMLC_PROGRESS"] = "1" if shown else "0"
