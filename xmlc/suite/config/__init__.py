"""The configuration, read, checked and resolved; the runs that follow from it; and every path of the project."""
