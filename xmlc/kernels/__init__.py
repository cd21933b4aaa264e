"""Code that the kernels of several packages share: arrays, sums, vectors, random numbers, heaps."""
