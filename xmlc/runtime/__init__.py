"""How a process computes: its threads, its pieces of work, its compiled kernels, and what it tells of its progress."""
