"""Build one self-contained HTML page that shows all finished results of a run next to the papers' numbers."""
