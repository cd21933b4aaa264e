"""Methods of inference on the same samples, beside what the machine can do."""
