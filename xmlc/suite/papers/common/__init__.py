"""Define the tables and figures that every suite has.

The packages of papers import definitions from this package, which imports nothing from the packages
of papers.
"""
