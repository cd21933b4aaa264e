"""gfm2011: An Exact Algorithm for F-Measure Maximization."""
