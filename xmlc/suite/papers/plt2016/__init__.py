"""Name the models of plt2016, "Extreme F-measure Maximization using Sparse Probability Estimates"."""

from xmlc.suite.results.titles import name_models

name_models(
    {
        "plt": "PLT",
        "plt-hashed": "PLT, hashed",
        "plt-batch": "PLT, batch",
        "plt-hinge": "PLT, batch, hinge",
        "fastxml": "FastXML",
        "pfastrexml": "PfastreXML",
        "stacking": "Stacking (xmlc)",
        "napkinxc-plt-sgd": "napkinXC PLT, SGD",
        "napkinxc-plt-adagrad": "napkinXC PLT, AdaGrad",
        "napkinxc-plt-liblinear": "napkinXC PLT, liblinear",
        "omikuji-parabel": "omikuji Parabel",
        "omikuji-parabel-log": "omikuji Parabel, logistic",
        # Models of the suites "defaults", "hashing" and "scale".
        "plt-default": "PLT",
        "plt-auto": "PLT, tuning: auto",
        "plt-adagrad-default": "PLT, AdaGrad",
        "napkinxc-plt-default": "napkinXC PLT",
        **{f"plt-hashed-{bits}": f"PLT, hashed to 2^{bits}" for bits in (12, 15, 18, 21, 28)},
    }
)
