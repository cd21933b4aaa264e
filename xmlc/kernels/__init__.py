"""What the kernels of several rooms share: functions, sums, vectors, random numbers and their streams, heaps, top k."""
