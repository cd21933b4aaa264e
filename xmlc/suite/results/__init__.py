"""Read numbers from records and average them over seeds.

Define columns, printed names and fingerprints.
"""
