"""Hyperparameter search on the 80/20 split (plt2016, Section 6.1 and Appendix C).

`plan` puts a search together and runs it: `ranges` says what may vary, `methods` which trials come one after the
other, `objective` what a trial is worth; `journal` keeps those that are finished, `result` is the file that holds them
all. The package imports none of them, so that a step which only reads a result depends on nothing else.
"""
