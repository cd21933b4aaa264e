"""FastXML and PfastreXML: forests whose nodes are sparse linear classifiers."""

from xmlc.models.fastxml.estimator import FastXML as FastXML
