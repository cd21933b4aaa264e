"""Records, which steps write to files, and from which tables and figures are built."""
