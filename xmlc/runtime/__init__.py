"""How a process computes: its threads, its pieces of work, its compiled kernels, and its progress reports."""
