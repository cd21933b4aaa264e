"""One self-contained HTML page of all finished results of a run, beside the papers' numbers."""
