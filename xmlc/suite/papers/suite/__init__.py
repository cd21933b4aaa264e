"""The tables of a study, a user's suite without published numbers."""
