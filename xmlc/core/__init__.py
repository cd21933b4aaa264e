"""Provide functions that all packages use, such as functions for errors, files, threads and
progress displays.
"""
