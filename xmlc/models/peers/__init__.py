"""Baselines behind the estimators' interface, so that they run on the same splits and are scored alike."""
