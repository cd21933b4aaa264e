"""Finding, reading and storing datasets.

`load` is imported only on demand, because it imports all parsers, which downloads do not need.
"""

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.data.formats import load as load

lazy_names(__name__)
