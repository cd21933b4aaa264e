"""Provide OPLT: probabilistic label trees that grow with the stream of instances."""

from xmlc.models.oplt.estimator import OPLT as OPLT
