"""The steps of the workflow, such as training, measurements and searches."""
