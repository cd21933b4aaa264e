"""A Snakemake workflow for the experiments of five papers and of a user's study.

It needs the extra ``workflow``, and the rest of the package does not import it.
"""
