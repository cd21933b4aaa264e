"""One self-contained HTML page of everything that a run has finished, beside what the papers print."""
