"""Define a study: a suite of the user, for which no paper prints numbers."""
