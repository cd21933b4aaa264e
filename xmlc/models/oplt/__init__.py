"""Probabilistic label trees that grow with a stream of instances."""

from xmlc.models.oplt.estimator import OPLT as OPLT
