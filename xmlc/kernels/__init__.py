"""What the kernels of several rooms share, the same bits on any processor: functions, sums, random numbers, top k."""
