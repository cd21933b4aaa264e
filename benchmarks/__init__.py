"""Comparisons with other programs, and checks for identical bits, for use in a clone."""
