"""Each script in examples/ is short, runs without the extra `workflow` and prints the output shown on the site."""

import re
import subprocess
import sys

import pytest
from needs import require
from repository import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs/examples.md").read_text()
#: Packages of the extra `workflow`. The value `None` in `sys.modules` hides a package.
WORKFLOW = "click gdown jinja2 matplotlib msgspec pandas psutil requests snakemake tabulate textalloc yaml".split()
BEYOND = {"replacing_omikuji": "baselines", "serving": "serve"}  # the examples that need an extra
BROUGHT = {"serving": {"click"}}  # this extra also installs them
VARIES = re.compile(r"\d+\.\d s\b|^.*omikuji.*\n", re.MULTILINE)  # seconds, omikuji's log and its P@1
RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys(sys.argv[2:]))
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_prints_output_shown_on_site(script, tmp_path):
    if script.stem in BEYOND:
        require(BEYOND[script.stem])
    output = ROOT / f"examples/output/{script.stem}.txt"
    assert len(script.read_text().splitlines()) <= 50
    for file in (script, output):
        assert f"```{{literalinclude}} ../{file.relative_to(ROOT)}\n" in PAGE
    absent = [name for name in WORKFLOW if name not in BROUGHT.get(script.stem, ())]
    done = subprocess.run([sys.executable, "-c", RUN, script, *absent], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert VARIES.sub("", done.stdout) == VARIES.sub("", output.read_text()), (
        f"put into {output.relative_to(ROOT)}:\n\n{done.stdout}"
    )


def test_every_output_has_a_script():
    assert sorted(file.stem for file in (ROOT / "examples/output").iterdir()) == [script.stem for script in SCRIPTS]
