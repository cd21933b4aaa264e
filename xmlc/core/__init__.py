"""What every room may use: errors, whole files, schemas, threads and progress, provenance."""
