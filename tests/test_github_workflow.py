"""The GitHub workflow cannot run here; what it would run is there, and nothing in it can be swapped under us."""

import re
import shlex
from pathlib import Path

import yaml

from xmlc.cli.judging.compare import command

ROOT = Path(__file__).parent.parent
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
STEPS = [(job, step) for job, content in WORKFLOW["jobs"].items() for step in content["steps"]]
LINES = [line for _, step in STEPS for line in step.get("run", "").splitlines()]
SHELL = {"if", "else", "fi", "cat", "echo"}


def made():
    """Targets that the workflow asks make for."""
    return [shlex.split(line)[1] for line in LINES if line.startswith("make ")]


def test_every_line_is_a_target_of_make_or_of_the_shell():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(made()) <= set(targets)
    assert {shlex.split(line)[0] for line in LINES} <= SHELL | {"make"}


def test_it_lints_and_tests_all_and_does_what_the_readme_tells_a_newcomer():
    assert made() == ["lint", "docs", "env", "test-all", "bits", "demo", "compare", "report", "test"]
    newcomer = [step["run"] for job, step in STEPS if job == "newcomer" and step.get("run", "").startswith("make ")]
    assert newcomer == ["make demo", "make compare", "make report", "make test"]
    machines = WORKFLOW["jobs"]["newcomer"]["strategy"]["matrix"]["os"]
    assert machines == ["ubuntu-latest", "ubuntu-24.04-arm", "macos-latest"]


def test_the_comparison_is_posted_whatever_it_says():
    posting = next(step for _, step in STEPS if "GITHUB_STEP_SUMMARY" in step.get("run", ""))
    assert posting["if"] == "${{ !cancelled() }}"
    recipe = re.search(r"^compare: .*\n\t.* (xmlc compare .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    words = shlex.split(recipe)
    written = words[words.index("--markdown") + 1]
    assert f"cat {written} >>" in posting["run"]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_what_the_steps_use_is_pinned_and_they_may_only_read():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert not any("permissions" in content for content in WORKFLOW["jobs"].values())
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name) for name in used)


def test_every_job_ends_in_time_and_caches_what_pip_fetches():
    for job, content in WORKFLOW["jobs"].items():
        assert content["timeout-minutes"] <= 60, job
        python = next(step for name, step in STEPS if name == job and "setup-python" in step.get("uses", ""))
        assert python["with"]["cache"] == "pip"
        assert (ROOT / python["with"]["cache-dependency-path"]).is_file()
