"""Define records: the files that steps write, and from which tables and figures are built."""
