"""Names of models in print: those that the suite scale alone has."""

MODELS = {
    "plt-hashed-28": "PLT, hashed to 2^28",
    "swnn-75": "SWNN, S 75",
}
