"""Domains of `Parabel`."""

from xmlc.kernels.domains import TREES, whole
from xmlc.models.domains.plt import NODES

DOMAINS = {**NODES, "n_trees": whole(1, TREES)}
