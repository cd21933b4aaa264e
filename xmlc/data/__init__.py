"""Find, read and store datasets.

Importing `load` imports all parsers, which other functions of this package, such as downloads, do not need.
"""

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.data.formats import load as load

lazy_names(__name__)
