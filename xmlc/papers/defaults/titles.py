"""Names of models in print: those of the suite defaults."""

MODELS = {
    "plt-default": "PLT",
    "plt-auto": "PLT, tuning: auto",
    "plt-adagrad-default": "PLT, AdaGrad",
    "napkinxc-plt-default": "napkinXC PLT",
}
