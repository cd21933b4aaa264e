"""Datasets: where they come from, how they are read, and how they lie on disk.

`load` brings the parsers with it, which a download, say, does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.data.formats import load as load

if not TYPE_CHECKING:  # which would take any name for known
    __getattr__, __dir__, __all__ = lazy_names(__name__)
