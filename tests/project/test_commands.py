"""The commands in README.md, config/README.md and the pages of docs/ are valid.

An indented line is a command. Code in text or tables is a command if it begins with make,
snakemake, xmlc or the module of the benchmarks. Each program's own parser reads its commands.
"""

import os
import re
import shlex
import subprocess
from dataclasses import fields
from itertools import chain

import click
import pytest
import yaml
from repository import ROOT
from snakemake.cli import get_argument_parser

from benchmarks.__main__ import group as benchmarks
from xmlc.cli import group
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import Settings, read_config
from xmlc.suite.papers.plan import targets

PAGES = [ROOT / "README.md", ROOT / "config/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands_of(page):
    """Return the commands of a page, without comments."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    indented = "".join(re.findall(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+", text))
    found = re.findall(r"^    (.*)$", indented, re.MULTILINE)
    found += re.findall(r"`((?:make|snakemake|xmlc|python -m benchmarks) [^`\n]+)`", text)
    return [re.sub(r" +#.*| \.\.\.$", "", line) for line in found]


LINES = sorted(set(chain.from_iterable(map(commands_of, PAGES))))
MAKE = [line for line in LINES if line.startswith("make ")]
SNAKEMAKE = [line for line in LINES if line.startswith("snakemake ")]
XMLC = [line for line in LINES if line.startswith("xmlc ")]
BENCHMARKS = [line for line in LINES if line.startswith("python -m benchmarks ")]


def words_of(line):
    """Return the arguments of a command. A folder of the test replaces the reader's folders."""
    return shlex.split(re.sub(r"<[^>]*>|/data/xmlc", "mirror", line))[1:]


def test_documented_make_commands_are_valid():
    environment = {"PATH": os.environ["PATH"]}  # a make that runs the tests would add its variables
    assert min(len(MAKE), len(SNAKEMAKE), len(XMLC)) > 15
    for line in MAKE:
        command = ["make", "--dry-run", *words_of(line)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.parametrize("line", XMLC + BENCHMARKS)
def test_documented_xmlc_and_benchmark_commands_are_valid(line):
    words = words_of(line)
    command = group
    if line in BENCHMARKS:
        words = words[2:]
        command = benchmarks
    context = click.Context(command)
    while isinstance(command, click.Group) and words:
        name, *words = words
        command = command.get_command(context, name)
        assert command is not None, f"no command {name}"
    command.make_parser(context).parse_args(words)


def test_documented_snakemake_commands_are_valid():
    made = targets(Project.read(read_config(ROOT / "config/config.yaml"), ROOT / "config"))
    known = {*made, "scale", "demo", *yaml.safe_load((ROOT / "config/datasets.yaml").read_text())}
    keys = {field.name for field in fields(Settings)}
    parser = get_argument_parser()
    for line in SNAKEMAKE:
        # The parser refuses executors that are not installed.
        asked, _ = parser.parse_known_args(words_of(line.replace("--executor kubernetes", "")))
        assert {setting.split("=")[0] for setting in asked.config or ()} <= keys, line
        assert (ROOT / (asked.workflow_profile or "profiles/default")).is_dir(), line
        assert all(name in known or name.startswith("results/") for name in asked.targets), line
