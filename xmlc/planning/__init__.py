"""Memory and processor time of a job before it starts, from the sizes of its data and its hyperparameters."""
