"""Wrap baseline programs as estimators. Suites refer to these estimators by file.

The name of a module starts with the name of its program.
"""
