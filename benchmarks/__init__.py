"""Benchmarks against other programs in one run, and the same bits on any processor; run from a clone, not installed."""
