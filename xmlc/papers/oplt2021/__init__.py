"""oplt2021: Online Probabilistic Label Trees."""
