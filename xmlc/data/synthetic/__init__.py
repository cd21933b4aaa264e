"""Data that is drawn rather than downloaded: with known posteriors, or with few examples of each class."""
