"""Forests (FastXML, LdSM) beside the times of the authors' programs."""
