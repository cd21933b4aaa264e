"""The kernels of the inference methods."""
