"""Test that a module depends on exactly the source files that it imports."""

import os
import subprocess
import sys

import pytest
from imports import imported_modules

from xmlc.core import sources
from xmlc.core.sources import source_digest
from xmlc.suite.provenance.sources import forget_sources, source_files


def imported_at_run_time(module):
    """Return the package's files that are loaded if a new process imports a module."""
    code = f"import sys, {module}\nfor name, found in sys.modules.items():\n"
    code += "    if name.split('.')[0] == 'xmlc': print(found.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("module", ["xmlc.suite.steps.table", "xmlc.models.plt"])
def test_closure_covers_imported_modules(module, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # Outside the project's folder, the paths are absolute.
    assert imported_at_run_time(module) <= {*source_files(module)}


def test_imports_are_found_in_every_kind_of_statement(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import typing\ntry:\n    import xmlc.core.errors\nexcept OSError:\n    import "
        "xmlc.core.files\nelse:\n    import xmlc.kernels.csr\nfinally:\n    import "
        "xmlc.kernels.arrays\nwhile True:\n    with open('x'):\n        import "
        "xmlc.core.threads\nif typing.TYPE_CHECKING:\n    import xmlc.core.progress\nelif 1:\n    "
        "import xmlc.core.parallel\nif not typing.TYPE_CHECKING:\n    import "
        "xmlc.core.memory\nclass A:\n    async def f(self):\n        match self:\n            "
        "case 1:\n                import xmlc.kernels.top_k\ndef __getattr__(name):\n    import "
        "xmlc.core.sources\n"
    )
    found = {"core", "core.errors", "core.files", "core.threads", "core.parallel", "core.memory"}
    found |= {"kernels", "kernels.csr", "kernels.arrays", "kernels.top_k"}
    assert imported_modules(file) == {"xmlc"} | {f"xmlc.{name}" for name in found}
    assert any(name.endswith("kernels/arrays.py") for name in source_files(str(file)))


def test_exceptions_are_not_followed_from_the_package_but_from_a_users_file(tmp_path):
    def depends(*modules, without):
        files = source_files(*modules, without=without)
        return any(name.endswith("core/progress.py") for name in files)

    assert depends("xmlc.core.parallel", without=())
    assert depends("xmlc.core.progress", without=("xmlc.core.progress",))
    for without in ("xmlc.core.progress", "xmlc.core"):
        assert not depends("xmlc.core.parallel", without=(without,))
    file = tmp_path / "mine.py"
    for imported in ("import xmlc.core.progress", "from xmlc.core import progress"):
        file.write_text(imported)
        forget_sources()
        assert depends(str(file), without=("xmlc.core.progress",))


@pytest.fixture
def digest():
    """Return a function that computes the digest of files, as in a new process without cached
    digests.
    """

    def of(*files):
        sources.content_digest.cache_clear()
        sources.parsed.cache_clear()
        return source_digest(map(str, files))

    return of


def test_digest_depends_on_names_and_contents_only(digest, tmp_path):
    one = tmp_path / "one.csv"
    two = tmp_path / "two.py"
    one.write_text("1 # of data every byte counts")
    two.write_text("a = 2")
    before = digest(one, two)
    os.utime(one, (0, 0))
    assert digest(two, one) == before
    others = [digest(one), *(source_digest([str(one)], text) for text in ("text", "other"))]
    assert len({before, *others}) == 4
    two.write_text("a = 3")
    assert digest(one, two) != before
    two.write_text("a = 2")
    one.write_text("1")
    assert digest(one, two) != before


CODE = """import os
class A:
    x: int = 1
    def f(self, a, b="c"):
        return (a + 1) * 2, f"{a:{b}}"
"""
ALIKE = """# coding: utf-8
'''Module.'''
import os  # of the system

class A:
    "Class."
    x: int = 1
    "Attribute."
    #: Method.
    def f(
        self, a, b='c',
    ):
        '''Function.

        At length.
        '''
        return ((a + 1)
                * 2, f'{a:{b}}')
"""
EDITS = [
    ("x: int", "y: int"), ("= 1", "= 1.0"), ("= 1", "= True"), ("= 1", "= '1'"), ('"c"', "'d'"),
    ("b=", "b: str="),
    ("a + 1", "1 + a"), ("a + 1", "a - 1"), ("(a + 1) * 2", "a + 1 * 2"), (":{b}", "!r:{b}"),
    ("a, b", "b, a"),
    ("self, a", "self, *, a"), ("import os", "import os.path"), ("return", "yield"),
    ("    def", "    @g\n    def"),
]  # fmt: skip


def test_digest_ignores_comments_docstrings_and_layout(digest, tmp_path):
    file = tmp_path / "mine.py"
    found = []
    edited = [CODE.replace(old, new, 1) for old, new in EDITS]
    for text in (*edited, ALIKE, CODE):
        file.write_text(text)
        found.append(digest(file))
    assert found[-1] == found[-2]
    assert len(set(found)) == 1 + len(EDITS)
    assert sources.parsed(file)[1].startswith("393fa76ad69fe882"), "in every version of Python"


def test_digest_is_independent_of_package_location(digest, tmp_path, monkeypatch):
    found = []
    for place in ("here", "there"):
        file = tmp_path / place / "xmlc/step.py"
        file.parent.mkdir(parents=True)
        file.write_text("1")
        monkeypatch.setattr(sources, "PACKAGE", file.parent)
        found.append(digest(file))
    assert found[0] == found[1]
