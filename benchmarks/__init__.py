"""Compare xmlc with other programs, and check that results are bit-identical on any processor.

The package `benchmarks` is not installed with xmlc. To run the package, use a clone of the
repository.
"""
