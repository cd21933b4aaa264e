"""Extreme multi-label classification with sparse probability estimates (SPE)."""

__version__ = "0.1.0"
