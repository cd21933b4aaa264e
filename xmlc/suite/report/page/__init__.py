"""Build HTML pages that show all finished results of a run next to the numbers of the papers."""
