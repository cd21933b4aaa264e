"""Commands that make tables, figures and the page from records."""
