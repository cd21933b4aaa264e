"""How Sphinx builds the site: the pages of this folder, and the reference from the docstrings of the package."""

import runpy
from pathlib import Path

import xmlc

HERE = Path(__file__).parent
page = runpy.run_path(str(HERE / "hyperparameters.py"))["page"]()  # it follows from the code
(HERE / "hyperparameters.md").write_text(page, encoding="utf-8")

project = "xmlc"
author = "the xmlc developers"
project_copyright = author
version = release = xmlc.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
myst_heading_anchors = 2  # links to sections, as on GitHub
exclude_patterns = ["_build", "_page", "_runs"]
html_theme = "furo"
html_title = f"xmlc {version}"
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["_page"]  # the report that `make docs` makes of results/reference/five-seeds

# A name in backticks that does not exist is an error, but for commands and for what is private.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [("py:obj", r".*[ \-/].*"), ("py:(obj|class)", r"(.*\.)?_.*")]

# Types stand in the docstrings, with shapes, which no signature has; a class shows what it inherits,
# but for the conventions that all estimators share.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"inherited-members": "Estimator,tuple"}
autosummary_generate = False
numpydoc_show_class_members = False
