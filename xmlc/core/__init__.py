"""Shared by every room: errors, whole files, schemas, threads and progress, provenance."""
