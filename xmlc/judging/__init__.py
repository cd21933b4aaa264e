"""Numbers judged: by a fingerprint for all of them, one by one beside what is expected."""
