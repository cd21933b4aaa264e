"""Run the steps of the workflow, such as training, measurements and hyperparameter searches."""
