"""Tables and figures that every suite can make."""
