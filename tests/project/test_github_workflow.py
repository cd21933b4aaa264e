"""The GitHub workflow, templates and pre-commit hooks: what they name exists, and what they use is pinned."""

import re
import shlex
import tomllib

import pytest
import yaml
from repository import ROOT

from xmlc.cli import COMMANDS
from xmlc.cli.judging.compare import command

SITE = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text())
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
    assert made() == ["lint", "docs", "env", "test-all", "bits", "test", "demo", "compare", "report", "test"]
    newcomer = [step["run"] for job, step in STEPS if job == "newcomer" and step.get("run", "").startswith("make ")]
    assert newcomer == ["make demo", "make compare", "make report", "make test"]
    machines = WORKFLOW["jobs"]["newcomer"]["strategy"]["matrix"]["os"]
    assert machines == ["ubuntu-latest", "ubuntu-24.04-arm", "macos-latest"]


def test_every_python_that_the_project_supports_runs_the_tests():
    versions = WORKFLOW["jobs"]["pythons"]["strategy"]["matrix"]["python"]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={versions[0]}"


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


def test_the_site_is_built_as_at_home_and_only_its_publication_may_write():
    build, publish = SITE["jobs"]["build"], SITE["jobs"]["publish"]
    assert [step["run"] for step in build["steps"] if "run" in step] == ["make docs"]
    assert SITE["permissions"] == {"contents": "read"}
    assert "permissions" not in build
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    used = [step["uses"] for step in [*build["steps"], *publish["steps"]] if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name) for name in used)
    (upload,) = (step for step in build["steps"] if "upload" in step.get("uses", ""))
    made = re.search(r"sphinx-build .* docs (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert upload["with"] == {"path": made}


def test_every_job_ends_in_time_and_caches_what_pip_fetches():
    for job, content in WORKFLOW["jobs"].items():
        assert content["timeout-minutes"] <= 60, job
        python = next(step for name, step in STEPS if name == job and "setup-python" in step.get("uses", ""))
        assert python["with"]["cache"] == "pip"
        assert (ROOT / python["with"]["cache-dependency-path"]).is_file()


FORMS = {
    file.name: yaml.safe_load(file.read_text()) for file in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
}
TEMPLATES = [*(ROOT / ".github/ISSUE_TEMPLATE").iterdir(), ROOT / ".github/pull_request_template.md"]


@pytest.mark.parametrize("name", sorted(set(FORMS) - {"config.yml"}))
def test_an_issue_form_is_one_that_github_accepts(name):
    form = FORMS[name]
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "labels"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"textarea", "input", "dropdown"}
    assert all(field["attributes"]["label"] for field in fields)
    identifiers = [field["id"] for field in fields]
    assert len(set(identifiers)) == len(identifiers) > 0
    options = [option for field in fields for option in field["attributes"].get("options", [])]
    assert all(isinstance(option, str) for option in options)  # a bare yes is a truth value


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_templates_name_commands_and_files_that_exist(file):
    code = re.findall(r"`([^`\n]+)`", file.read_text())
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {line.split()[1] for line in code if line.startswith("make ")} <= set(targets)
    assert {line.split()[1] for line in code if line.startswith("xmlc ")} <= set(COMMANDS)
    assert all((ROOT / name).exists() for name in code if name.endswith(".md") and " " not in name)


def test_the_hooks_before_a_commit_are_checks_of_make_lint_by_its_own_tools():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"  # nothing to download, no revision to pin
    lint = re.search(r"^lint: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        assert hook["name"] in lint
        assert hook["entry"].startswith(hook["name"])
