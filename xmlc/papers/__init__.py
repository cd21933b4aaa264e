"""Tables and figures: a room for each paper, and one for what every suite can make."""
