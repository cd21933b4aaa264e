"""Each folder has a budget of code lines. A new line replaces another one or gives users a requested feature."""

import ast
import subprocess
import tokenize

import pytest
from repository import ROOT

MOST_CODE_LINES = {"xmlc": 26_200, "tests": 25_780, "benchmarks": 2_730}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LAYOUT |= {tokenize.ENDMARKER, tokenize.ENCODING}


def code_lines(file):
    """Count the lines of code, without docstrings, comments and blank lines."""
    with file.open("rb") as opened:
        tokens = [token for token in tokenize.tokenize(opened.readline) if token.type not in LAYOUT]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(file.read_bytes())):
        is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_documented and ast.get_docstring(node, clean=False) is not None:
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(code)


@pytest.mark.parametrize("folder", MOST_CODE_LINES)
def test_code_stays_within_its_budget(folder):
    tracked = subprocess.run(
        ["git", "ls-files", f"{folder}/*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = sum(code_lines(ROOT / name) for name in tracked.stdout.split() if (ROOT / name).exists())
    assert found <= MOST_CODE_LINES[folder]


def test_code_lines_are_counted(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""One."""\n\n# Two.\nx = """three\nfour"""\n\n\ndef f():\n    """Five."""\n    return x\n'
    )
    assert code_lines(tmp_path / "a.py") == 4
