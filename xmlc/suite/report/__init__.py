"""Report the results of a run: a page of results, comparisons with published and reference tables,
and the status.
"""
