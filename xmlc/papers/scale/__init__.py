"""The suite scale: what each step costs on large synthetic sets, and how costs grow."""
