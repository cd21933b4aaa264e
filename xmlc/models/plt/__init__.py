"""Probabilistic label trees (plt2016, Sections 5.1 and 5.2)."""

from xmlc.models.plt.estimator import PLT as PLT
