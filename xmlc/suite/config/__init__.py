"""Read, check and resolve the configuration. Define the runs that follow from it, and all paths of the project."""
