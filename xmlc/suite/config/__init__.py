"""Read and check the configuration, and list the runs that it requests.

Define the paths of all files in a project.
"""
