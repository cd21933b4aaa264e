"""Tables, figures and claims of oplt2021, "Online Probabilistic Label Trees"."""
