"""The digests of what was fetched before, by source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from xmlc.data.source import FileFacts
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json


def check_digests(record: Path, origin: str, key: str, files: Mapping[str, FileFacts]) -> None:
    """Compare files with what is on record for their source, or put them on record.

    Parameters
    ----------
    record : Path
        JSON file of a dataset's digests.
    origin : str
        The source, for people.
    key : str
        The source in the record.
    files : mapping of str to FileFacts

    Raises
    ------
    XmlcError
        A file has changed; or the record cannot be read.
    """
    found = {name: file["sha256"] for name, file in files.items()}
    try:
        known = read_json(record) if record.exists() else {}
        recorded = known.get(key, found)
        changed = sorted(name for name in {*recorded, *found} if recorded.get(name) != found.get(name))
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise XmlcError(f"{record}: expected the JSON of recorded digests ({error}); delete it") from error
    if changed:
        none = "no such file"
        reasons = [
            f"{name} has changed: found SHA-256 {found.get(name, none)}, recorded {recorded.get(name, none)}"
            for name in changed
        ]
        raise XmlcError(
            f"{origin}: {'; '.join(reasons)}. If what was found is right, delete the entry {key!r} of {record}, or "
            "that file; otherwise look for another source"
        )
    if key not in known:
        write_json(record, known | {key: found})
