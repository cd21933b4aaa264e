"""Tables and figures of every suite; the papers take theirs from here, and nothing here knows a paper's room."""
