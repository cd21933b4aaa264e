"""Wrap baseline programs as estimators.

A suite refers to an estimator in this package by the path of its file.

The name of a module starts with the name of its program.
"""
