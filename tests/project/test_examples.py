"""Each script in examples/ is short, runs without the extra `workflow` and prints the output shown
on the site.
"""

import json
import re
import runpy
import subprocess
import sys
import threading
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from needs import require
from repository import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs/examples.md").read_text()
#: Packages of the extra `workflow`. The value `None` in `sys.modules` hides a package.
WORKFLOW = (
    "click gdown jinja2 matplotlib msgspec pandas pooch psutil requests snakemake tabulate".split()
)
WORKFLOW += ["textalloc", "yaml"]
BEYOND = {"replacing_omikuji": "baselines", "serving": "serve"}  # the examples that need an extra
BROUGHT = {"serving": {"click"}}  # this extra also installs them
# seconds, omikuji's log and its P@1
VARIES = re.compile(r"\d+\.\d s\b|^.*omikuji.*\n", re.MULTILINE)
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
    assert len(script.read_text().splitlines()) <= 60
    for file in (script, output):
        assert f"```{{literalinclude}} ../{file.relative_to(ROOT)}\n" in PAGE
    absent = [name for name in WORKFLOW if name not in BROUGHT.get(script.stem, ())]
    done = subprocess.run(
        [sys.executable, "-c", RUN, script, *absent], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert VARIES.sub("", done.stdout) == VARIES.sub("", output.read_text()), (
        f"put into {output.relative_to(ROOT)}:\n\n{done.stdout}"
    )


BODIES = {
    "huge number": b'{"text": "a", "k": 1000000000000000000000000000000}',
    "5,000 digits": b'{"text": "a", "k": %s}' % (b"9" * 5000),
    "negative number": b'{"text": "a", "k": -1}',
    "NaN": b'{"text": "a", "k": NaN}',
    "no text": b'{"k": 3}',
    "nothing": b"",
    "half a character": b'{"text": "\xff"}',
    "half a surrogate pair": b'{"text": "\\ud800"}',
    "deep nesting": b'{"text": %s}' % (b"[" * 100_000),
    "too long a text": b'{"text": "%s"}' % (b"a" * 100_001),
}


@pytest.fixture(scope="module")
def server():
    """Start the server of examples/serving.py on a free port, and yield the address of its only
    method.
    """
    require("serve")
    import uvicorn

    app = runpy.run_path(str(ROOT / "examples/serving.py"))["app"]
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.05)
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/labels"
    server.should_exit = True
    thread.join()


@pytest.mark.slow
@pytest.mark.needs("serve")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_wrong_request_to_the_served_model_gets_a_client_error(server, body):
    request = Request(server, body, {"Content-Type": "application/json"})
    with pytest.raises(HTTPError) as error:
        urlopen(request)
    assert error.value.code in (400, 422)
    assert json.loads(error.value.read())["detail"]
    valid = Request(server, b'{"text": "fry", "k": 1000}', request.headers)
    assert len(json.loads(urlopen(valid).read())) == 3
