"""Measurements of a model: quality, time and counts, after a run that compiles everything."""
