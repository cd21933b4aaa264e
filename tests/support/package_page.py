"""Assemble docs/package.md into one program, with the definitions that the page leaves to the
reader.
"""

import re

from repository import ROOT
from small_data import random_multilabel

from xmlc.data.writer import save_repository

LEFT_TO_THE_READER = """
import numpy as np
from xmlc.data import load

X, Y = load("train.txt.xz")
texts = [" ".join(f"word{j}" for j in X[[i]].indices) or "nothing" for i in range(1200)]
label_lists = [[f"label {j}" for j in Y[[i]].indices] for i in range(1200)]
classes = np.array([f"label {j}" for j in range(12)])
"""


def blocks(page, language="python"):
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def page_in(folder):
    """Write the data of the page into a folder, and return the program to run there."""
    X, Y = random_multilabel(1300, 60, 12)
    save_repository(folder / "train.txt.xz", X[:1200], Y[:1200])
    save_repository(folder / "test.txt.xz", X[1200:], Y[1200:])
    return "\n".join([LEFT_TO_THE_READER, *blocks((ROOT / "docs/package.md").read_text())])
