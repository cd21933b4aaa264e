"""Name the models of swnn2018: Revisiting the Vector Space Model, the Sparse Weighted Nearest-Neighbor Method."""

from xmlc.suite.results.titles import name_models

name_models(
    {
        "swnn": "SWNN",
        "swnn-searched": "SWNN",
        "swnn-75": "SWNN, S 75",
        # The paper only quotes the numbers of these models.
        "dismec": "DiSMEC",
        "ppdsparse": "PPDSparse",
        "sleec": "SLEEC",
    }
)
