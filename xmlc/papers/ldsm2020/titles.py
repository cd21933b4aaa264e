"""Names of models in print: those of ldsm2020's suite, and of methods that the paper quotes."""

MODELS = {
    "ldsm": "LdSM",
    "ldsm-mean": "LdSM, mean over leaves",
    "ldsm-single": "LdSM, best single tree",
    "fastxml-single": "FastXML, best single tree",
    "parabel": "Parabel",
    # Quoted.
    "dismec": "DiSMEC",
    "pdsparse": "PDSparse",
    "ppdsparse": "PPDSparse",
    "ova-primal": "OVA-Primal++",
    "leml": "LEML",
    "sleec": "SLEEC",
    "lpsr": "LPSR",
    "gbdt-s": "GBDT-S",
    "craftml": "CRAFTML",
}
