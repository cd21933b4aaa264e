"""Define the tables and figures that every suite has.

The packages of papers import these definitions, but not the reverse.
"""
