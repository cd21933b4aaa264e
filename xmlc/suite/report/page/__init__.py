"""Build one self-contained HTML page of all finished results of a run, next to the papers' numbers."""
