"""Both container images contain all files of the package.

A start script copies compiled kernels for the user.
"""

import os
import subprocess

from repository import ROOT


def sections():
    """Return the header and the sections of the Apptainer definition, each as a list of lines."""
    found = {"": []}
    for line in (ROOT / "container/apptainer.def").read_text().splitlines():
        if line.startswith("%"):
            name = line[1:]
            found[name] = []
        elif line.strip() and not line.strip().startswith("#"):
            found[name if len(found) > 1 else ""].append(line.strip())
    return found


APPTAINER = sections()
DOCKERFILE = (ROOT / "container/Dockerfile").read_text().splitlines()


def test_first_start_of_read_only_image_copies_kernels_to_user(tmp_path):
    """If the package is read-only, `kernel_folder` returns this folder of the user."""
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


def listed_files():
    """Return the files and folders from which Docker builds an image."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def test_both_images_are_built_from_the_same_files():
    copied = [line.split() for line in APPTAINER["files"]]
    assert {source for source, _ in copied} == listed_files()
    assert all(target == f"/opt/xmlc/{source}" for source, target in copied)
    assert [line for line in DOCKERFILE if line.startswith("COPY")] == ["COPY . /opt/xmlc/"]
    for name in listed_files():
        assert (ROOT / name).exists()
