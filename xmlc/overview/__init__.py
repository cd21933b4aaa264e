"""What a run has made so far: files done, missing and failed, and the fact table of all numbers."""
