"""Provide errors, atomic files, schemas, threads, progress displays and provenance to all packages."""
