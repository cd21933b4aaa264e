"""Commands that compare tables with published and accepted ones."""
