"""Prove that results are the same bits on any processor: everything is computed as for several, and compared."""
