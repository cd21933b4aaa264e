"""The configuration of a project."""
