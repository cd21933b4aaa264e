"""Define records. Steps write records to files, and tables and figures are built from records."""
