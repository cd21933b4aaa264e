"""Fetch a dataset into ``resources/<dataset>`` from a manual download, a mirror, or the catalogue's addresses."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from xmlc.cli.options import out_option
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, git_blob, read_json, write_json
from xmlc.data.archives import SUFFIXES, is_compressed, open_plain, unpack
from xmlc.data.synthetic import is_made
from xmlc.suite.config import sources
from xmlc.suite.config.catalogue import (
    Address,
    Dataset,
    FileFacts,
    catalogue_entry,
    check_entry,
    file_facts,
    load_catalogue,
)
from xmlc.suite.options import catalogue_option, entry_option
from xmlc.suite.steps.fetching import NotThere, fetch_drive, fetch_http

# Number of bytes at the start of a file that are checked, and number of bytes that an error message shows.
HEAD, SHOWN = 512, 60
LONGEST = 1 << 20  # Maximum number of bytes of a file ``source.json`` that is read.
#: Maps the first bytes of a file that is not data to a description of the file. Some servers send an error page or a
#: similar file instead of data.
NO_DATA = {
    b"<!doctype html": "an HTML page (a quota, sign-in or error page)",
    b"<html": "an HTML page (a quota, sign-in or error page)",
    b"{": "JSON",
    b"[": "JSON",
    b"version https://git-lfs": "a Git LFS pointer",
}


class Fetched(NamedTuple):
    """Describe a fetched dataset and its source.

    Attributes
    ----------
    origin : str
        The source: an address, or the path of a folder on this machine.
    entry : Dataset
        The catalogue entry of the dataset, with the names of the fetched files.
    copied : dict
        Sizes, times and checksums of the files in the folder ``origin``, as `states` returns them. If ``origin`` is an
        address, the dict is empty.
    of_catalogue : bool
        Whether ``origin`` is an address in the catalogue. The files at an address in the catalogue must never change.
    """

    origin: str
    entry: Dataset
    copied: sources.States
    of_catalogue: bool = False


def download(dataset: Dataset, out: Path, mirror: str | None = None) -> str:
    """Fetch all files of a dataset into the folder ``out``. If there is an error, no file is written.

    The function prints a line for each source that lacks the dataset. The first source is the folder
    ``manual/<dataset>`` next to ``out``, into which users put manual downloads. The next sources are the mirror, the
    addresses in the catalogue, and the alternatives in the catalogue. The first download from an address in the
    catalogue records the digests of the files in ``digests/<dataset>.json`` next to ``out``. Later downloads from the
    same address are compared with the recorded digests.

    Parameters
    ----------
    dataset : Dataset
    out : Path
        The folder to write, usually ``resources/<dataset>``. The function writes the data files into this folder, and a
        file ``source.json`` that describes the data files.
    mirror : str, optional
        A folder or base URL. The subfolder ``<dataset>/`` contains the dataset. A mirror, like ``manual/<dataset>``,
        may contain the files that the catalogue names. Instead of the files in the catalogue, a mirror may contain
        ``train.txt`` and ``test.txt`` in the repository format, or the matrices ``X.trn.npz``, ``Y.trn.npz``,
        ``X.tst.npz`` and ``Y.tst.npz``. Each file may be compressed. A folder on this machine may also contain one
        archive with the files.

    Returns
    -------
    str
        The source of the dataset: an address or a folder.

    Raises
    ------
    XmlcError
        No source has the dataset, or a source has wrong files. The error message names the folder into which the user
        can put a manual download.
    """
    name, problems = dataset.name, []
    if dataset.synthetic:
        raise XmlcError(f"{name}: found a synthetic dataset, expected one to download. Run xmlc synth {name}")
    described = sources.source_of(dataset, mirror, out.parent)
    for attempt in _attempts(dataset, out.parent, mirror):
        try:
            with atomic_folder(out) as folder:
                fetched = attempt(folder)
                files = file_facts(folder)
                if fetched.of_catalogue:
                    _check_digests(out.parent / "digests" / f"{name}.json", fetched.origin, files)
                content = {"name": name, "origin": fetched.origin, "copied": fetched.copied, **fetched.entry.layout}
                content["described"] = described
                content |= {"data": "synthetic"} if _is_synthetic(fetched, folder) else {}
                write_json(folder / "source.json", content | {"files": files})
            return fetched.origin
        # After this error, the next source is tried, because it may have the dataset. Any other error ends the
        # download, because only the user can fix it.
        except NotThere as error:
            problems.append(str(error))
            click.echo(f"{name}: {error}", err=True)
        except XmlcError as error:
            problems = [str(error)]
            break
    said = "; ".join(problems) or "found no address in the catalogue, and no mirror"
    about = ": ".join(filter(None, (dataset.homepage, dataset.edition)))
    where = f"by hand (see {about})" if about else "by hand"
    files_or_archive = f"{sources.wanted(dataset)}, or their archive, into {sources.by_hand(dataset, out.parent)}/"
    raise XmlcError(f"{name}: {said}. Download it {where}. Put {files_or_archive}")


def _is_synthetic(fetched: Fetched, folder: Path) -> bool:
    """Return whether a fetched dataset is synthetic according to the file ``source.json`` of its source.

    If the source has no file ``source.json``, the dataset is not synthetic.
    """
    file, origin = folder / "source.json", Path(fetched.origin)
    with suppress(XmlcError, OSError, ValueError):
        if not fetched.of_catalogue and not origin.is_dir():
            fetch_http(f"{fetched.origin}/{file.name}", file)
        elif (origin / file.name).is_file():
            file = origin / file.name
        elif len(fetched.copied) == 1:
            unpack(origin / next(iter(fetched.copied)), [file.name], folder)
        return file.stat().st_size < LONGEST and is_made(read_json(file))
    return False


def _attempts(dataset: Dataset, resources: Path, mirror: str | None) -> Iterator[Callable[[Path], Fetched]]:
    """Yield a function for each source of a dataset, in the order in which the sources are tried.

    Each function fetches the dataset from one source.
    """
    place = sources.under(sources.mirror_at(mirror), dataset) if mirror else None
    if sources.listed(own := sources.by_hand(dataset, resources)):
        yield partial(_from_folder, own, dataset)
    if place:
        yield partial(_from_server, place, dataset) if isinstance(place, str) else partial(_from_folder, place, dataset)
    for entry in (dataset, *dataset.alternatives):
        for kind, address in entry.sources:
            yield partial(_from_catalogue, entry, kind, address)


def _from_folder(place: Path, dataset: Dataset, out: Path) -> Fetched:
    """Copy the files of a dataset from a folder, in the first layout that is complete in the folder.

    If no layout is complete, but the folder has a single archive, unpack the archive.
    """
    there = sources.sources_in(place, dataset)
    # Sizes, times and checksums of the files are recorded before the copy. If a file changes during the copy, a later
    # step detects the change.
    copied = sources.states(there, {})
    files = dataset.files_in(place)
    if entry := dataset.layout_of(files):
        found = {}
        for name in entry.files:
            _check(files[name])
            found[name] = _kept(entry, name, Path(shutil.copyfile(files[name], out / files[name].name)))
        return Fetched(str(place), entry.renamed(found), copied)
    if files or len(there) != 1:
        raise (XmlcError if files else NotThere)(sources.lacks(place, dataset))
    archive, problems = there[0], []
    _check(archive)
    for entry in dataset.layouts:
        try:
            unpack(archive, entry.files, out)
            return Fetched(str(place), entry, copied)
        except XmlcError as error:
            problems.append(str(error))
    raise XmlcError(f"{archive}: {'; '.join(problems)}")


def _from_server(base: str, dataset: Dataset, out: Path) -> Fetched:
    """Download a dataset from a web mirror. The first layout that is complete on the mirror is downloaded."""
    problems = []
    for entry in dataset.layouts:
        try:
            found = {name: _kept(entry, name, _fetched(base, name, out)) for name in entry.files}
            return Fetched(base, entry.renamed(found), {})
        except NotThere as error:
            problems.append(error)
        for file in out.iterdir():
            file.unlink()
    raise problems[0]


def _fetched(base: str, name: str, out: Path) -> Path:
    """Download the first available file of ``name``, ``name.gz`` and so on from a mirror, and return its path.

    Raises
    ------
    NotThere
        The mirror has none of these files. The error message states why the file ``name`` without a suffix could not be
        downloaded.
    """
    problems = []
    for suffix in SUFFIXES:
        url, target = f"{base}/{name}{suffix}", out / f"{name}{suffix}"
        try:
            fetch_http(url, target)
            if not (problem := no_data(target)):
                return target
            target.unlink()
        except NotThere as error:
            problem = str(error)
        except XmlcError as error:
            raise XmlcError(f"{url}: {error}") from error
        problems.append(f"{url}: {problem}")
    raise NotThere(problems[0])


def _check(file: Path) -> None:
    if problem := no_data(file):
        raise XmlcError(f"{file}: {problem}")


def _kept(entry: Dataset, name: str, file: Path) -> str:
    """Unpack a file that was fetched from a mirror or a folder, if necessary. Return the name of the resulting file.

    If the catalogue has addresses of the dataset, a compressed file is unpacked, because a download from these
    addresses also unpacks it. As a result, the digest of a dataset does not depend on the source of the files. The
    files ``train.txt`` and ``test.txt`` stay compressed, because reference tables contain the digests of the compressed
    files.
    """
    if file.name == name or not entry.sources or entry.files == sources.OF_MIRRORS:
        return file.name
    unpack(file, [name], file.parent)
    file.unlink()
    return name


def _from_catalogue(entry: Dataset, kind: str, address: Any, out: Path) -> Fetched:
    """Download a dataset's files, or an archive of these files, from addresses in the catalogue.

    If a file's name in the catalogue has no suffix such as ``.gz``, a compressed file is unpacked.
    """
    files: dict[str, str | Address] = address if kind == "urls" else {"": address}
    fetched, urls = out / ".fetched", []
    for name, one in files.items():
        url, blob = (one, "") if isinstance(one, str) else (one["url"], one["blob"])
        urls.append(f"https://drive.google.com/uc?id={url}" if kind == "drive" else url)
        try:
            (fetch_drive if kind == "drive" else fetch_http)(url, fetched)
            if problem := no_data(fetched):
                raise XmlcError(problem)
            if blob and (found := git_blob(fetched)) != blob:
                raise XmlcError(f"found git blob {found}, expected {blob}")
            if name and (name.endswith(SUFFIXES[1:]) or not is_compressed(fetched)):
                fetched.rename(out / name)
            else:
                unpack(fetched, [name] if name else entry.files, out)
                fetched.unlink()
        except XmlcError as error:
            raise NotThere(f"{urls[-1]}: {error}") from error
    return Fetched(" ".join(urls), entry, {}, of_catalogue=True)


def _check_digests(record: Path, origin: str, files: Mapping[str, FileFacts]) -> None:
    """Compare the digests of fetched files with the digests of the source ``origin`` in the JSON file ``record``.

    If the JSON file has no digests for this source, the digests of the fetched files are added to the JSON file.

    Raises
    ------
    XmlcError
        The digest of a file differs, or a file is missing, or there is a file without a recorded digest.
    """
    found = {name: file["sha256"] for name, file in files.items()}
    known = read_json(record) if record.exists() else {}
    recorded = known.get(origin, found)
    if changed := [name for name in sorted({*recorded, *found}) if recorded.get(name) != found.get(name)]:
        reasons = [f"{name}: found SHA-256 {found.get(name)}, expected {recorded.get(name)}" for name in changed]
        advice = f"If the new files are right, delete {record} and run the command again. Otherwise use another source"
        raise XmlcError(f"{origin}: {', '.join(reasons)}. {advice}")
    if origin not in known:
        write_json(record, known | {origin: found})


def no_data(path: Path) -> str:
    """Return a text that describes why a file cannot be data, for example because it is an error page or empty.

    The function reads only the first bytes of the file.

    Returns
    -------
    str
        If the file may be data or an archive, the text is empty.
    """
    try:
        with open_plain(path) as file:
            head = file.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    except XmlcError:
        return "found a damaged compressed file"
    if not head:
        return "found an empty file"
    for mark, what in NO_DATA.items():
        if head.startswith(mark):
            return f"found {what} instead of data: {' '.join(head[:SHOWN].decode(errors='replace').split())!r}"
    return ""


@click.command()
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@click.option("--mirror", help="Folder or base URL that has the dataset's files in DATASET/.")
@catalogue_option
@entry_option
def command(dataset: str, out: Path, mirror: str | None, catalogue: tuple[Path, ...], entry: str | None) -> None:
    """Download the files of a dataset into the folder OUT.

    The command tries three sources in this order: your folder, the mirror, and the addresses in the catalogue. Your
    folder is manual/DATASET next to OUT, and contains a copy of the files, or one archive with the files.

    Your folder and the mirror must have the files that the catalogue names, or train.txt and test.txt in the
    repository's format. Each file may be compressed (.gz, .xz, .bz2). You can also use a dataset that is not in the
    catalogue, if your folder or the mirror has its files. The first download records the digests of the files, and
    later downloads are compared with these digests.
    """
    known = load_catalogue(*catalogue)
    listed = catalogue_entry(dataset, known)
    check_entry(listed, entry)
    if not listed.synthetic:
        sources.check_source(listed, mirror, out.parent, known)
    click.echo(f"{dataset}: downloaded from {download(listed, out, mirror)}", err=True)
