"""Names of models in print: those of swnn2018's suite, and of methods that the paper quotes."""

MODELS = {
    "swnn": "SWNN",
    "swnn-searched": "SWNN",
    # Quoted.
    "dismec": "DiSMEC",
    "ppdsparse": "PPDSparse",
    "sleec": "SLEEC",
}
