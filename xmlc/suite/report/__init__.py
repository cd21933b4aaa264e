"""The results of a run: pages, status, and comparisons with published and reference tables."""
