"""Overview of a run so far: files done, missing and failed, and the fact table of all numbers."""
