"""Classify texts and return the names of their labels."""

from xmlc.models.texts.text_classifier import TextClassifier as TextClassifier
