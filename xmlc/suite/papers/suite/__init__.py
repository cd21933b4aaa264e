"""A study: a suite of the user, of which no paper prints numbers."""
