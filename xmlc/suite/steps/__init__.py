"""Run the steps of the workflow, such as measurements, hyperparameter searches and compilation."""
