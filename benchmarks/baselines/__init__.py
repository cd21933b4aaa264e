"""Wrap baseline programs as estimators, which suites refer to by file.

The name of a module starts with the name of its program.
"""
