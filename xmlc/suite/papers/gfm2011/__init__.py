"""Tables, figures and claims of gfm2011, "An Exact Algorithm for F-Measure Maximization"."""
