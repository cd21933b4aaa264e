"""Name the models of oplt2021, "Online Probabilistic Label Trees"."""

from xmlc.suite.results.titles import name_models

name_models(
    {
        "parabel-single": "Parabel, single tree",
        "iplt": "IPLT",
        "oplt-r": "OPLT-R",
        "oplt-b": "OPLT-B",
        "oplt-r-program": "OPLT-R, program's tree",
        "oplt-b-program": "OPLT-B, program's tree",
        "oplt-w": "OPLT-W",
        "cmt": "CMT",
        "napkinxc-iplt": "napkinXC IPLT",
        "napkinxc-oplt-r": "napkinXC OPLT-R",
        "napkinxc-oplt-b": "napkinXC OPLT-B",
        "napkinxc-oplt-w": "napkinXC OPLT-W",
    }
)
