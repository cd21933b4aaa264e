"""What ``source.json`` says of a dataset's text files: which they are, how to read them, what they contain."""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired, TypedDict

from xmlc.files import sha256

#: Files of one part in formats that have more than one.
SEVERAL_FILES = {"repository-two-files": 2, "coordinates": 5}


class SplitFiles(TypedDict):
    """How one data file is cut: ``train`` and ``test``, files of row numbers from 1, and which column, from 0."""

    train: str
    test: str
    column: NotRequired[int]


class Layout(TypedDict):
    """How a dataset's files are read."""

    #: See `xmlc.data.formats.load`.
    format: str
    #: Whether ids of labels, in svmlight those of features too, start from 0.
    zero_based: bool
    #: File names: one each, or several in some formats.
    train: list[str]
    test: list[str]
    #: XML file that names the labels of an ARFF dataset.
    labels: str | None
    #: Where one data file is cut by lists of row numbers.
    split_files: SplitFiles | None


class FileFacts(TypedDict):
    """Size and SHA-256 of a file."""

    bytes: int
    sha256: str


def file_facts(folder: Path) -> dict[str, FileFacts]:
    """Describe every file of a folder, by name in alphabetical order."""
    return {file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)} for file in sorted(folder.iterdir())}
