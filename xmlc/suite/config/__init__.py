"""Read, check and resolve the configuration. Define the runs that the configuration asks for, and all project paths."""
