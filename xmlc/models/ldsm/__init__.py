"""Forests of M-ary trees whose nodes send an instance in one or several directions."""

from xmlc.models.ldsm.estimator import LdSM as LdSM
