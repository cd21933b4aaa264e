"""Binary relevance and classifier chains, which share a solver of logistic regressions."""
