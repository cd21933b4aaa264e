"""Online label trees beside napkinXC's, on a growing stream, and beside a memory tree."""
