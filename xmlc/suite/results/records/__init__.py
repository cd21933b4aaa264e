"""Define records: the files that steps write, and that tables and figures are made from."""
