"""From records to what people read: tables, figures, comparisons. Nothing here computes a result."""
