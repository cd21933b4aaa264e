"""Collect numbers: the long table of all records, its columns, printed names, means over seeds, and fingerprints."""
