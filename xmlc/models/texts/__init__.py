"""Texts in, names of labels out."""

from xmlc.models.texts.text_classifier import TextClassifier as TextClassifier
