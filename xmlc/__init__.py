"""Extreme multi-label classification with sparse probability estimates (SPE)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.steps.compiling import compile_kernels as compile_kernels

__all__ = ["__version__", "compile_kernels", "set_progress"]
__version__ = "0.2.0"
__getattr__, __dir__ = lazy_names(__name__, {"compile_kernels": "xmlc.steps.compiling"})


def set_progress(shown: bool) -> None:
    """Switch the progress of long calls on or off, for this process and those that it starts.

    At first it is on, unless the environment says ``XMLC_PROGRESS=0``.
    """
    os.environ["XMLC_PROGRESS"] = "1" if shown else "0"
