"""Numbers: the long table of all records, its columns, names in print, means over seeds, and fingerprints."""
