"""Estimators' times compared with the mere memory accesses of the same work, and what a second thread gives."""
