"""Define the tables and figures that every suite has.

The packages of papers import these definitions. This package imports nothing from the packages of papers.
"""
