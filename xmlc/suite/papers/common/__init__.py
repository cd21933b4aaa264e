"""Define the tables and figures that every suite has. Papers import them, but nothing here imports from a paper."""
