"""Training of BR and PCC beside scikit-learn's logistic regression."""
