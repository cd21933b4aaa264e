"""The benchmark suite: the experiments of five papers, and of a user's study, as a Snakemake workflow.

The suite needs the extra ``workflow``. Nothing in the rest of the package imports the suite.
"""
