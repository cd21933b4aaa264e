"""Search hyperparameters on the 80/20 split (plt2016, Section 6.1 and Appendix C).

`methods` generates the trials of a search, and `smac_search` is the search by SMAC.
"""
