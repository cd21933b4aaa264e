"""Extreme multi-label classification with sparse probability estimates (SPE)."""

__version__ = "0.2.0"
