"""What a run has made, told: the page, comparison with published and accepted tables, status."""
