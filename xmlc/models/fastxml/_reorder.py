"""What compiled sums may do."""

# Sums may be vectorised, which changes their order: once, when they are compiled, never with data or threads.
REORDER = {"reassoc", "contract", "nsz"}
