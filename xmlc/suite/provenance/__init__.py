"""Record where a number comes from: digests of code and data, the environment, and the costs of a
step.
"""
