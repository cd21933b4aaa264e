"""Fetch a dataset into ``resources/<dataset>`` from a manual download, a mirror or an address."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from xmlc.cli.options import out_option
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, read_json, write_json
from xmlc.data.archives import SUFFIXES, is_compressed, unpack
from xmlc.data.synthetic import is_made
from xmlc.suite.config import sources
from xmlc.suite.config.catalogue import (
    Dataset,
    FileFacts,
    catalogue_entry,
    file_facts,
    load_catalogue,
)
from xmlc.suite.files import git_blob
from xmlc.suite.options import catalogue_option, entry_option
from xmlc.suite.steps.fetching import Unreachable, copy, fetch

DESCRIPTION = "source.json"
# Names that files in the repository format may have on any mirror
OF_MIRRORS = ("train.txt", "test.txt")


def download(dataset: Dataset, out: Path, mirror: str | None = None) -> str:
    """Fetch all files of a dataset into the folder ``out``, or none after an error, and return the
    address or folder of the source.

    The sources are manual downloads in ``manual/<dataset>`` next to ``out``, then the mirror, the
    catalogue's addresses, and its alternatives. Once a folder has any files, no later source is
    tried. The first download from an address records the files' digests in
    ``digests/<dataset>.json`` next to ``out``, and later ones are compared with them. ``out``,
    usually ``resources/<dataset>``, also gets a description, ``source.json``.

    A ``mirror`` is a folder or base URL with a subfolder ``<dataset>/``. Like ``manual/<dataset>``,
    it has the files in the catalogue, ``train.txt`` and ``test.txt`` in the repository format, or
    the matrices ``X.trn.npz``, ``Y.trn.npz``, ``X.tst.npz`` and ``Y.tst.npz``, each of which may be
    compressed. A folder on this machine may have one archive instead.
    """
    name = dataset.name
    described = sources.source_of(dataset, mirror, out.parent)
    problems = []
    for source in sources.sources_of(dataset, mirror, out.parent):
        try:
            with atomic_folder(out) as folder:
                # The states are recorded before the copy, so that a change during the copy is
                # detected.
                content: dict[str, Any] = {"name": name, "origin": source.origin}
                content["copied"] = sources.states(source.paths, {})
                content["described"] = described
                content |= _fetch_files(source, folder).layout
                with suppress(OSError, ValueError):  # without a description, the data are real
                    if is_made(read_json(folder / DESCRIPTION)):
                        content["data"] = "synthetic"
                (folder / DESCRIPTION).unlink(missing_ok=True)
                content["files"] = file_facts(folder)
                if not content["copied"]:
                    record = out.parent / "digests" / f"{name}.json"
                    _check_digests(record, source.origin, content["files"])
                write_json(folder / DESCRIPTION, content)
            return source.origin
        except XmlcError as error:
            # The next source may have the dataset, but it must not replace a mirror that fails.
            if source.is_mirror and isinstance(error, Unreachable):
                raise
            problems.append(str(error))
            click.echo(f"{name}: {error}", err=True)
    problem = "; ".join(problems) or "found no address in the catalogue, and no mirror"
    about = f"{dataset.homepage or ''} {dataset.edition or ''}".strip()
    raise XmlcError(
        f"{name}: {problem}. Download it by hand ({about}). Put {', '.join(dataset.files)}, or "
        f"their archive, into {out.parent / 'manual' / name}/"
    )


def _fetch_files(source: sources.Source, out: Path) -> Dataset:
    """Fetch all files of a source into the folder ``out``, and return an entry that describes them.

    A compressed file is unpacked if its name in the catalogue's addresses has no suffix such as
    ``.gz``, so that the digest does not depend on the source. But ``train.txt`` and ``test.txt`` of
    mirrors stay compressed, because reference tables have their digests in this form.
    """
    entry = source.entry
    fetched = out / ".fetched"
    keeps_suffix = source.is_mirror and (not entry.sources or entry.files == OF_MIRRORS)
    names = {}
    for name, address in source.files.items():
        stored = name
        try:
            if source.is_mirror:
                suffix = _fetch_first(address, fetched)
                if keeps_suffix:
                    stored += suffix
            else:
                fetch(address, fetched)
                blob = entry.address(name)["blob"]
                if blob and git_blob(fetched) != blob:
                    raise XmlcError(f"found git blob {git_blob(fetched)}, expected {blob}")
            if not name:
                unpack(fetched, entry.files, out)
                if source.is_mirror:
                    with suppress(XmlcError):
                        unpack(fetched, [*entry.files, DESCRIPTION], out)
            elif keeps_suffix or name.endswith(SUFFIXES[1:]) or not is_compressed(fetched):
                names[name] = stored
                fetched.rename(out / stored)
            else:
                unpack(fetched, [name], out)
        except XmlcError as error:
            error.args = (f"{address}: {error}",)
            raise
    if source.is_mirror:
        with suppress(XmlcError):
            copy(f"{source.origin}/{DESCRIPTION}", out / DESCRIPTION)
    fetched.unlink(missing_ok=True)
    return entry.renamed(names)


def _fetch_first(address: str, target: Path) -> str:
    """Fetch the plain file of a mirror, or else a compressed one, and return its suffix.

    If the mirror has neither, the error is about the plain file.
    """
    problems = []
    for suffix in SUFFIXES:
        try:
            fetch(address + suffix, target)
            return suffix
        except Unreachable:
            raise
        except XmlcError as error:
            problems.append(error)
    raise problems[0]


def _check_digests(record: Path, origin: str, files: Mapping[str, FileFacts]) -> None:
    """Compare files with the digests of the first download in the JSON file ``record``, or record
    them.
    """
    digests = {name: file["sha256"] for name, file in files.items()}
    recorded = {}
    if record.exists():
        recorded = read_json(record)
    expected = recorded.setdefault(origin, digests)
    if digests != expected:
        problem = f"found SHA-256 {digests}, expected {expected} as in the first download"
        raise XmlcError(
            f"{origin}: {problem}. If the new files are right, delete {record} and run the command "
            "again. Otherwise use another source"
        )
    write_json(record, recorded)


@click.command()
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@click.option("--mirror", help="Folder or base URL that has the dataset's files in DATASET/.")
@catalogue_option
@entry_option
def command(
    dataset: str,
    out: Path,
    mirror: str | None,
    catalogue: tuple[Path, ...],
    entry: str | None,
) -> None:
    """Download the files of a dataset into the folder OUT.

    The command tries three sources in this order: your folder, the mirror, and the addresses in the
    catalogue. Your folder is manual/DATASET next to OUT, and contains a copy of the files, or one
    archive with the files.

    Your folder and the mirror must have the files that the catalogue names, or train.txt and
    test.txt in the repository's format. Each file may be compressed (.gz, .xz, .bz2). You can also
    use a dataset that is not in the catalogue, if your folder or the mirror has its files. The
    first download records the digests of the files, and later downloads are compared with these
    digests.
    """
    known = load_catalogue(*catalogue)
    listed = catalogue_entry(dataset, known, entry)
    sources.check_source(listed, mirror, out.parent, known)
    click.echo(f"{dataset}: downloaded from {download(listed, out, mirror)}", err=True)
