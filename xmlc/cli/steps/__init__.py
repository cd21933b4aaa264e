"""Steps of the workflow, one module each: a rule depends on the files of its own step alone."""
