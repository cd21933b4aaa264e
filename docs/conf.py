"""How Sphinx builds the site: the pages of this folder and of generated.py, and the reference from
docstrings.
"""

import os
import re
import runpy
from pathlib import Path

import xmlc
from xmlc.inference import Samples

HERE = Path(__file__).parent
ROOT = HERE.parent
# Pages of the site that are files of the repository, where links are to other files of it.
OF_THE_REPOSITORY = {
    "readme": ROOT / "README.md",
    "configuration": ROOT / "config/README.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "changelog": ROOT / "CHANGELOG.md",
}
LINK = re.compile(r"(\]\(|src=\")([\w./-]+)")
GENERATED = runpy.run_path(str(HERE / "generated.py"))
(HERE / "generated").mkdir(exist_ok=True)
for name, page in GENERATED["PAGES"].items():
    (HERE / f"generated/{name}.md").write_text(page(), encoding="utf-8")
# The site links the name of a generated page in italics. Git hosts have no such page.
NAME = re.compile(rf"\*({'|'.join(GENERATED['PAGES'])})\*")

project = "xmlc"
author = "the xmlc developers"
project_copyright = author
version = release = xmlc.__version__

extensions = [
    "myst_nb",  # also loads myst_parser
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
myst_heading_anchors = 3  # links to sections, as on GitHub
nb_execution_show_tb = True
nb_execution_timeout = 600  # seconds for a cell, which may compile kernels
nb_output_stderr = "remove"  # progress bars
exclude_patterns = ["_build", "_page", "_runs", "jupyter_execute"]
html_theme = "furo"
html_title = f"xmlc {version}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_page"]  # the report that `make docs` makes of the five seeds

# A name in backticks that does not exist is an error, but for commands and for what is private.
# a fence of a language that Pygments does not know, such as CSV
suppress_warnings = ["misc.highlighting_failure"]
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [("py:obj", r".*[ \-/].*"), ("py:(obj|class)", r"(.*\.)?_.*")]

# Types stand in the docstrings, with shapes, which no signature has. A class shows what it
# inherits, except the methods that all estimators share, which the page on models shows once.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Members for code of the package, which are no part of the reference
HOOKS = """
    FOREST all_labelled_ before check_together checked_overlap domains estimate_blocks features
    fit_candidates label_scores largest_below learn limits members min_probabilities
    node_thresholds over own_thresholds unfitted
"""
autodoc_default_options = {
    "inherited-members": "BaseException,Estimator,SparseProbabilityEstimator,StoredEstimator,tuple",
    "exclude-members": ", ".join(HOOKS.split()),
}
autosummary_generate = False
numpydoc_show_class_members = False


def with_links_of_the_site(app, docname, source):
    """Take a page from the repository where its file here stands for one, and lead links between
    files to pages.
    """
    file = OF_THE_REPOSITORY.get(docname, HERE / f"{docname}.md")
    pages = {path: HERE / f"{name}.md" for name, path in OF_THE_REPOSITORY.items()}
    if docname in OF_THE_REPOSITORY:
        app.env.note_dependency(str(file))
        source[0] = file.read_text(encoding="utf-8")
    if docname == "readme":
        source[0] = source[0].replace("# xmlc", "# README", 1)  # the home page has the title xmlc
    if docname == "configuration":
        source[0] = GENERATED["with_types"](source[0])
    source[0] = source[0].replace(
        "*report of these runs*", '<a href="report/index.html">report of these runs</a>'
    )
    to_generated = os.path.relpath(HERE / "generated", (HERE / docname).parent)
    source[0] = NAME.sub(rf"[\1]({to_generated}/\1.md)", source[0])

    def to_page(link):
        target = (file.parent / link[2]).resolve()
        return link[1] + os.path.relpath(pages.get(target, target), (HERE / docname).parent)

    source[0] = LINK.sub(
        lambda link: to_page(link) if (file.parent / link[2]).is_file() else link[0], source[0]
    )


def with_anchors_that_exist(app, pagename, templatename, context, doctree):
    """On pages of source code, lead links back to objects by their names: viewcode takes one prefix
    for a module.
    """
    known = app.env.get_domain("py").objects
    module = pagename.removeprefix("_modules/").replace("/", ".")

    def named(link):
        parts = link[1].split(".")
        names = [link[1], *(".".join([module, *parts[start:]]) for start in range(len(parts)))]
        return f'#{next((name for name in names if name in known), link[1])}"'

    if pagename.startswith("_modules/xmlc"):
        context["body"] = re.sub(r'#(xmlc\.[\w.]+)"', named, context["body"])


def with_levels_of_headings(app, pagename, templatename, context, doctree):
    """Add the level that screen readers need to the headings of the navigation.

    Sphinx and furo leave it out.
    """
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def with_scrolling_by_keys(app, pagename, templatename, context, doctree):
    """Let keys scroll code, tables and pictures that are wider than the screen."""
    context["body"] = re.sub(
        r'<pre(?=>)|<p(?=><img )|<div(?= class="(?:table-wrapper|cell_output))',
        r'\g<0> tabindex="0"',
        context.get("body", ""),
    )


def is_field(app, what, name, thing, skip, options):
    """Skip the fields of a named tuple, which its docstring describes."""
    return skip or isinstance(thing, type(Samples.Y))


def setup(app):
    """Connect the pages' links and members."""
    app.connect("autodoc-skip-member", is_field)
    app.connect("source-read", with_links_of_the_site)
    app.connect("html-page-context", with_anchors_that_exist)
    app.connect("html-page-context", with_scrolling_by_keys)
    # furo makes the navigation at 500
    app.connect("html-page-context", with_levels_of_headings, priority=900)
