"""Tables, figures and claims of plt2016, "Extreme F-measure Maximization using Sparse Probability
Estimates".
"""
