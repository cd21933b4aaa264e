"""Provide code that kernels of several packages share: functions, sums, vectors, random numbers,
heaps, top k.
"""
