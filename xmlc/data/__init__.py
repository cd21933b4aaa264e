"""Finding, reading and storing datasets.

`load` and `fetch` are imported only on demand, because they import all parsers, which the suite's
downloads do not need.
"""

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.data.fetching import fetch as fetch
    from xmlc.data.formats import load as load

lazy_names(__name__)
