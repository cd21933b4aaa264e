"""Numbers from records, averaged over seeds, with the columns, names and fingerprints of tables."""
