"""How a PLT learns: which instances reach which node, and the solvers that fit siblings to them."""

from xmlc.models.plt.training._gather import gather_rows
from xmlc.models.plt.training._hashed import train_hashed
from xmlc.models.plt.training._pieces import reach_of, train_nodes
from xmlc.models.plt.training._siblings import Reach
from xmlc.models.plt.training._solvers import AdaGrad, DualDescent, Sgd, Solver
from xmlc.models.plt.training._steps import adagrad_steps, dual_steps

__all__ = [
    "AdaGrad",
    "DualDescent",
    "Reach",
    "Sgd",
    "Solver",
    "adagrad_steps",
    "dual_steps",
    "gather_rows",
    "reach_of",
    "train_hashed",
    "train_nodes",
]
