"""defaults: scores of estimators on datasets that nobody tuned; no paper's own tables."""

from xmlc.papers.tables.titles import name_models

name_models(
    {
        "plt-default": "PLT",
        "plt-auto": "PLT, tuning: auto",
        "plt-adagrad-default": "PLT, AdaGrad",
        "napkinxc-plt-default": "napkinXC PLT",
    }
)
