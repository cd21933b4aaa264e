"""Run the steps of the workflow: measurements, hyperparameter search, compilation ahead."""
