"""What the steps of the workflow do: measurements, hyperparameter search, compilation ahead."""
