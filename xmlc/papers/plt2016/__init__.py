"""plt2016: Extreme F-measure Maximization using Sparse Probability Estimates."""
