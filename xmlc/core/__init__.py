"""Provide errors, complete files, schemas, threads, progress and provenance to all packages."""
