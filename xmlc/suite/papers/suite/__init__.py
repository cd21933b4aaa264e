"""Define the tables of a study. A study is a user's suite, for which no paper publishes numbers."""
