"""Nearest neighbours beside the times of the authors' program."""
