"""The suite scale: costs of each step on large synthetic sets, and their growth."""

from xmlc.papers.tables.titles import name_models

name_models(
    {
        "plt-hashed-28": "PLT, hashed to 2^28",
        "swnn-75": "SWNN, S 75",
    }
)
