"""Report the results of a run: the page, comparisons with published and reference tables, and the status."""
