"""Search for hyperparameters on the 80/20 split (plt2016, Section 6.1 and Appendix C).

The module `methods` generates the trials of a search. The module `smac_search` contains the search by SMAC.
"""
