"""The origin of a number: digests of code and data, the environment, and the costs of a step."""
