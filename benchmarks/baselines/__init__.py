"""Wrap baseline programs as estimators. Suites name these estimators by the paths of their files.

The name of a module starts with the name of its program.
"""
