"""What the kernels of several rooms share: elementary functions and sums whose bits are the same on any processor."""
