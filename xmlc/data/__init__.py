"""Find, read and store datasets.

Importing `load` imports all parsers, which other functions of this package, such as downloads, do not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.data.formats import load as load

if not TYPE_CHECKING:  # With `__getattr__`, type checkers would accept any name.
    __getattr__, __dir__, __all__ = lazy_names(__name__)
