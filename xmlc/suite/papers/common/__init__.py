"""The tables and figures of every suite, which packages of papers import, but never the reverse."""
