"""Hyperparameter search on the 80/20 split (plt2016, Section 6.1 and Appendix C).

`plan` puts a search together and runs it: `ranges` says what may vary, `methods` which trials come one after the
other, `objective` what a trial is worth.
"""
