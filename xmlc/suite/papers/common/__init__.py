"""Define the tables and figures that every suite has. Papers import from here; nothing here imports from a paper."""
