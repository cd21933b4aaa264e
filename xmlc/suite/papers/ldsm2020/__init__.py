"""Name the models of ldsm2020, "LdSM, Logarithm-depth Streaming Multi-label Decision Trees"."""

from xmlc.suite.results.titles import name_models

name_models(
    {
        "ldsm": "LdSM",
        "ldsm-mean": "LdSM, mean over leaves",
        "ldsm-single": "LdSM, best single tree",
        "fastxml-single": "FastXML, best single tree",
        "parabel": "Parabel",
        # Models of which the paper only quotes the numbers.
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
)
