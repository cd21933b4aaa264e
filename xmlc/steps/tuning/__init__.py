"""Hyperparameter search on the 80/20 split (plt2016, Section 6.1 and Appendix C).

`ranges` says what may vary, `search` runs the trials, `stages` those that are written down, `auto` those for a dataset
that nobody tuned; `objective` is what a trial is worth, `journal` keeps those that are finished, `result` is the file
that holds them all. The package imports none of them, so that a step which only reads a result depends on nothing else.
"""
