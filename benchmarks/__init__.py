"""Compare xmlc with other programs, and check that results are bit-identical on any processor.

This package is not installed with xmlc. Run the package from a clone.
"""
