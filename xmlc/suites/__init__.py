"""What is asked for: the configuration read, checked and resolved, the runs, and every path of the project."""
