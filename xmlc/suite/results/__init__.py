"""Collect the numbers in records, average them over seeds, and define columns, printed names and fingerprints."""
