"""Tables: columns, panels, seeds in one row, footnotes, fingerprint, and files."""
