"""Synthetic datasets: with several labels and known posteriors, and with one label and few examples each."""
