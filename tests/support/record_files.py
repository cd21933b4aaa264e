"""Write files of records, and read their contents."""

import json
from pathlib import Path

from xmlc.core.checksums import stamped
from xmlc.suite.papers.building import kinds


def save(folder, content, name="x.json"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(
        json.dumps(stamped(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return path


def as_record(content):
    """Return the record of a file with this content."""
    return kinds()[content["kind"]].of(Path("x.json"), json.loads(json.dumps(content)))
