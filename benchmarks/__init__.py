"""Compare xmlc with other programs in one run, and check that results are bit-identical on any processor.

The package is not installed. Run it from a clone.
"""
