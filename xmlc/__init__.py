"""Extreme multi-label classification with sparse probability estimates (SPE)."""

import os

__all__ = ["__version__", "set_progress"]
__version__ = "0.2.0"


def set_progress(shown: bool) -> None:
    """Switch the progress of long calls on or off, for this process and those that it starts.

    At first it is on, unless the environment says ``XMLC_PROGRESS=0``.
    """
    os.environ["XMLC_PROGRESS"] = "1" if shown else "0"
