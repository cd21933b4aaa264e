"""What a table is: columns, panels, seeds in one row, footnotes, fingerprint, and its files."""
