"""Commands that get and prepare datasets."""
