"""Judging of numbers: all of them by a fingerprint, each beside its expected value."""
