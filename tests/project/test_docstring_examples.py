"""Public names have all sections of numpydoc, and the examples in their docstrings run.

They are those in the ``__all__`` of a package, and those that a page of the reference lists.
"""

import doctest
import inspect
import pydoc
import re
from dataclasses import is_dataclass
from itertools import chain
from typing import Protocol

import pytest
from repository import ROOT

from xmlc.kernels.estimator import Estimator

PACKAGES = ("", ".data", ".inference", ".metrics", ".models", ".models.trees", ".thresholds")
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in ROOT.glob("docs/reference/*.md"))
HOOKS = re.search(r'HOOKS = """(.*?)"""', (ROOT / "docs/conf.py").read_text(), re.S)[1].split()
SECTION = re.compile(r"^(\w.*)\n-{3,}$", re.MULTILINE)
# Functions that raise no error of their own
ANY_INPUT = """
    set_progress looks_up get_params largest_leaf in_unit of exp log log2 sigmoid power mean
""".split()


def members_of(owner, place):
    """Return the public functions and classes of a module or class, if ``place`` defines them."""
    found = {}
    for name in sorted({*dir(owner)} - {*HOOKS}):
        thing = getattr(owner, name)
        is_class = inspect.isclass(thing) and inspect.ismodule(owner)
        if inspect.isfunction(thing) or inspect.ismethod(thing) or is_class:
            if name[0] != "_" and thing.__module__.startswith(place):
                found[name] = thing
    return found


def public_names():
    """Return public functions and classes, each under one name."""
    names = re.findall(r"auto(?:class|exception|function):: (\S+)", PAGES)
    for package in PACKAGES:
        names += [f"xmlc{package}.{name}" for name in pydoc.locate(f"xmlc{package}").__all__]
    for module in re.findall(r"automodule:: (\S+)\n   :members:\n(?!   :imported)", PAGES):
        names += [f"{module}.{name}" for name in members_of(pydoc.locate(module), module)]
    found = {}
    for name in names:
        thing = pydoc.locate(name)
        if callable(thing):
            found[thing] = name
    return {name: thing for thing, name in found.items()}


def examples_of(thing):
    return doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, str(thing), None, 0)


def sections_lacking(thing):
    """Return the sections except *Examples* that the docstring of a function or class needs, but
    lacks.
    """
    sections = set(SECTION.findall(inspect.cleandoc(thing.__doc__ or "")))
    needed = {"See Also"}
    if inspect.isclass(thing):
        if issubclass(thing, Estimator) and inspect.signature(thing).parameters:
            needed.add("Parameters")
        if issubclass(thing, tuple) or (is_dataclass(thing) and not issubclass(thing, Estimator)):
            needed.add("Attributes")
        return needed - sections
    signature = inspect.signature(thing)
    if {*signature.parameters} - {"self"}:
        needed.add("Parameters")
        if thing.__name__ not in ANY_INPUT:
            needed.add("Raises")
    if signature.return_annotation != "None" and "Yields" not in sections:
        needed.add("Returns")
    return needed - sections


PUBLIC = public_names()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_has_all_sections(name):
    """An overriding method may describe only its differences from the method that it overrides."""
    thing = PUBLIC[name]
    assert sections_lacking(thing) == set()
    assert examples_of(thing).examples
    if not inspect.isclass(thing) or Protocol in thing.__bases__:
        return
    for method, own in members_of(thing, "xmlc").items():
        owners = [base for base in thing.__mro__ if method in vars(base)]
        lacking = [sections_lacking(getattr(base, method)) - {"See Also"} for base in owners]
        assert set() in lacking, method
        examples = [examples_of(documented).examples for documented in (own, *thing.__mro__)]
        assert any(f".{method}(" in example.source for example in chain(*examples)), method


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_example_runs(name, monkeypatch):
    monkeypatch.setenv("XMLC_PROGRESS", "0")  # which the example of `set_progress` changes
    thing = PUBLIC[name]
    documented = [thing]
    if inspect.isclass(thing):
        documented += members_of(thing, "xmlc").values()
    found = []
    for each in documented:
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        runner.run(examples_of(each), out=found.append)
    assert found == []
