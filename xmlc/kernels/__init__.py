"""Shared by the kernels of several rooms: functions, sums, vectors, random numbers and their streams, heaps, top k."""
