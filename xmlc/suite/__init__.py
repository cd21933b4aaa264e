"""Define the benchmark suite, a Snakemake workflow for the experiments of five papers and of a
user's study.

The suite needs the extra ``workflow``. Nothing in the rest of the package imports the suite.
"""
