"""Benchmarks: a ratio against a peer or a baseline, measured in one run."""
