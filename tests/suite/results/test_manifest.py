"""Test the manifest of a table: it is read back, and invalid files are refused."""

import json
from pathlib import Path

import pytest
from facts import raises_with

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.suite.results.manifest import Manifest

DIGESTS = {"yeast": "12ab"}
SETTINGS = {"yeast / plt": {"seeds": [0, 1], "lam": 1e-5, "hash_bits": None}}
RECORDS = Path("a/1.json"), Path("a/0.json")
MADE = Manifest(
    "claims", "plt2016", RECORDS, Path("results/published"), digests=DIGESTS, settings=SETTINGS
)
CONTENT = {
    "schema": 1,
    "table": "claims",
    "paper": "plt2016",
    "records": ["a/1.json", "a/0.json"],
    "published": "results/published",
    "suite": None,
    "digests": DIGESTS,
    "titles": {},
    "settings": SETTINGS,
}


def test_written_manifest_is_read_back(tmp_path):
    path = MADE.write(tmp_path / "claims")
    assert path == tmp_path / "claims.manifest.json"
    assert path.read_text() == json.dumps(stamped(CONTENT), indent=2) + "\n"
    assert Manifest.read(path) == Manifest.beside(tmp_path / "claims.csv") == MADE
    assert Manifest.beside(tmp_path / "table1.csv") is None


def test_manifest_of_an_earlier_version_has_no_settings(tmp_path):
    path = tmp_path / "x.manifest.json"
    earlier = {key: value for key, value in CONTENT.items() if key != "settings"}
    path.write_text(json.dumps(stamped(earlier)))
    assert Manifest.read(path).settings == {}


@pytest.mark.parametrize("change", [{"records": [1]}, {"suite": 3}, {"digests": []}])
def test_invalid_manifest_is_refused_with_its_key(tmp_path, change):
    path = tmp_path / "x.manifest.json"
    path.write_text(json.dumps(stamped(CONTENT | change)))
    with raises_with(XmlcError, "x.manifest.json", next(iter(change))):
        Manifest.read(path)
