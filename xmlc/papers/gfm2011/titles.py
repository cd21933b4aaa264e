"""Names of models in print: those of gfm2011's suite."""

MODELS = {
    "pcc": "PCC",
    "br": "BR",
}
