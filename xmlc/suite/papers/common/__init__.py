"""Define the tables and figures that every suite has. Packages of papers import them, but not the reverse."""
