"""The two definitions of an image: they say the same, take files that exist, and install the pinned versions."""

import os
import re
import shlex
import subprocess
import tomllib

import pytest
from repository import ROOT

PYTHON_OF = {"debian:trixie-slim": (3, 13)}
SCRIPT = "/opt/xmlc/container/install.sh"
INSTALL = (ROOT / "container/install.sh").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def instructions():
    """Each line of the Dockerfile as its instruction and the rest."""
    lines = (ROOT / "container/Dockerfile").read_text().splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


def docker(name):
    return [rest for instruction, rest in instructions() if instruction == name]


def sections():
    """The header and the sections of the Apptainer definition, each as its lines."""
    found = {"": []}
    for line in (ROOT / "container/apptainer.def").read_text().splitlines():
        if line.startswith("%"):
            name = line[1:]
            found[name] = []
        elif line.strip() and not line.strip().startswith("#"):
            found[name if len(found) > 1 else ""].append(line.strip())
    return found


def assigned(lines):
    return dict(line.removeprefix("export ").split("=", 1) for line in lines if re.match(r"(export )?\w+=", line))


APPTAINER = sections()


def test_both_begin_with_the_same_system_whose_python_the_project_supports():
    (base,) = docker("FROM")
    assert APPTAINER[""] == ["Bootstrap: docker", f"From: {base}"]
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert PYTHON_OF[base] >= tuple(map(int, oldest.split(".")))
    assert ".".join(map(str, PYTHON_OF[base])) in (ROOT / ".github/workflows/ci.yml").read_text()


def test_both_take_the_same_files_and_the_builder_is_sent_no_others():
    copied = {}
    for words in map(shlex.split, docker("COPY")):
        *sources, target = words
        copied |= {name: f"{target}{name}" if target.endswith("/") else target for name in sources}
    assert dict(map(str.split, APPTAINER["files"])) == copied
    assert all((ROOT / name).exists() for name in copied)
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert ignored == ["*", *(f"!{name}" for name in copied), "**/__pycache__"]
    needed = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "constraints.txt", "xmlc"}
    assert needed <= set(copied)


def test_both_run_the_same_script_in_the_same_environment():
    settings = dict(line.split("=", 1) for line in docker("ARG"))
    environment = dict(line.split("=", 1) for line in docker("ENV"))
    assert assigned(APPTAINER["arguments"]) == settings
    assert assigned(APPTAINER["post"][:-1]) == environment
    given = " ".join(f'{name}="{{}}"' for name in settings)
    values = [f"${name}" for name in settings], [f"{{{{ {name} }}}}" for name in settings]
    in_docker, in_apptainer = (f"{given.format(*each)} sh {SCRIPT}" for each in values)
    assert docker("RUN")[0] == in_docker
    assert APPTAINER["post"][-1] == in_apptainer
    assert assigned(APPTAINER["environment"])["PATH"] == environment["PATH"]


def test_the_script_installs_the_pinned_versions_and_has_what_it_reads():
    (pip,) = re.findall(r"-m pip (.*)$", INSTALL, re.MULTILINE)
    assert pip == 'install --no-cache-dir --constraint constraints.txt ".[$EXTRAS]"'
    extras = dict(line.split("=", 1) for line in docker("ARG"))["EXTRAS"].split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    patterns = re.search(r'KERNELS="(.*)"', INSTALL)[1].split()
    assert len([file for pattern in patterns for file in ROOT.glob(pattern)]) > len(patterns)
    known = {"EXTRAS", "KERNELS", "suite", *(line.split("=")[0] for line in docker("ENV"))}
    assert set(re.findall(r"\$(\w+)", INSTALL)) <= known


def test_jobs_are_no_root_and_any_command_can_be_given():
    names = [name for name, _ in instructions()]
    assert names[-3:] == ["USER", "WORKDIR", "CMD"]
    assert docker("USER") != ["root"]
    assert "ENTRYPOINT" not in names
    assert APPTAINER["runscript"] == ['exec "$@"']


@pytest.mark.parametrize("name", ["post", "environment", "runscript"])
def test_sections_are_shell(name):
    done = subprocess.run(["sh", "-n"], input="\n".join(APPTAINER[name]), text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run(["sh", "-n", ROOT / "container/install.sh"]).returncode == 0


def test_the_first_start_of_a_read_only_image_copies_the_kernels_to_the_user(tmp_path):
    """To where `use_kernel_cache` looks if the package cannot be written to."""
    compiled = tmp_path / "opt/venv/lib/python3.13/site-packages/xmlc/__pycache__/kernels-0123"
    compiled.mkdir(parents=True)
    (compiled / "kernel").write_text("code")
    lines = [line for line in APPTAINER["environment"] if not line.startswith("export PATH")]
    script = "\n".join(lines).replace("/opt/venv", f"{tmp_path}/opt/venv")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    copied = tmp_path / ".cache/xmlc/kernels-0123/kernel"
    for content in ("code", "added to by a run"):
        subprocess.run(["sh", "-euc", script], env=environment, check=True)
        assert copied.read_text() == content
        copied.write_text("added to by a run")
    assert [folder.name for folder in (tmp_path / ".cache/xmlc").iterdir()] == ["kernels-0123"]
