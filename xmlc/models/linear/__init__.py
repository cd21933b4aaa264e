"""Binary relevance and classifier chains, over one solver of logistic regressions."""
