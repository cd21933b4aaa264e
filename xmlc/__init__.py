"""Extreme multi-label classification with sparse probability estimates (SPE)."""

__all__ = ["__version__"]
__version__ = "0.2.0"
