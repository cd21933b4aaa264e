"""Define the limit of the memory in which the trees of a forest grow."""

# Trees grow at the same time as long as they take about this many bytes together. A larger tree grows alone.
GROWING_BYTES = 8_000_000_000
