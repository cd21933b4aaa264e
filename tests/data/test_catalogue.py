"""Entries that types alone cannot judge, and what the shipped catalogue promises about its sources."""

import pytest
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.data.catalogue import dataset, load_catalogue

SYNTHETIC = "{n_train: 1, n_test: 1, n_features: 1, n_labels: 1}"
SHIPPED = ROOT / "config/datasets.yaml"


def load(tmp_path, text):
    path = tmp_path / "catalogue.yaml"
    path.write_text(text)
    return load_catalogue(path)


def test_published_averages_agree_with_the_published_counts():
    # An average over training and test set together would contradict the training set's counts here.
    for entry in load_catalogue(SHIPPED).values():
        published = entry.published or {}
        if "instances_per_label" in published:
            pairs = published["n_train"] * published["labels_per_instance"]
            assert pairs / published["m"] == pytest.approx(published["instances_per_label"], rel=5e-3), entry.name


def test_shipped_sources_are_none_of_the_dead_ones():
    entries = load_catalogue(SHIPPED).values()
    places = [entry for listed in entries for entry in (listed, *listed.alternatives)]
    drive = [address for entry in places for kind, address in entry.sources if kind == "drive"]
    assert not [address for address in drive if address.startswith("0B3lPMIHmG6vG")]
    assert len(drive) == len(set(drive))
    assert all(entry.sources or entry.synthetic for entry in entries)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {format: coordinates, train: [x, y], test: z}", "a: train: found 2 file name.s., .* has 5"),
        ("a: {format: vw, train: x, test: y, labels: z}", "a: labels: names the XML file"),
        ("a: {split_files: {train: x, test: y}}", "a: split_files: cut one file"),
        ("a: {train: x, test: x}", "a: train and test name the same file"),
        ("a: {urls: {train.txt: 'http://x/y'}}", "a: urls: found train.txt, expected the files train.txt, test.txt"),
        (f"a: {{url: 'http://x/y', synthetic: {SYNTHETIC}}}", "a: synthetic: a set is either made or fetched"),
        ("a: {alternatives: [{train: x, test: x}]}", r"a: alternatives\[0\]: train and test name the same file"),
        ("a: {train: ..}", r"a: found '\.\.', expected a file name without a folder"),
        ("a: {url: 'ftp://x/y'}", r"a\.url: .*expected an address that starts with http"),
        ("a: {urls: {train.txt: {url: 'http://x/y', blob: 12}}}", r"\.train\.txt\.blob: found 12, expected git's id"),
        ("a: {propensity: [0.5]}", r"a\.propensity: .*expected A and B of the propensities"),
        ("a: {propensity: [0.5, 0]}", r"a\.propensity\[1\]: found 0"),
        ("a: {drvie: abcdefghijk}", r"a: unknown key: found 'drvie', expected drive"),
        ("a: {published: {n_train: 3}}", r"a\.published: .*source"),
        ("manual: {}", "key: found .manual."),
        ("- a", "found .*expected a mapping"),
    ],
)
def test_contradictions_are_named_by_entry_key_and_remedy(tmp_path, text, message):
    with pytest.raises(XmlcError, match=message) as error:
        load(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "catalogue.yaml"))


def test_every_mistake_is_listed_at_once(tmp_path):
    with pytest.raises(XmlcError) as error:
        load(tmp_path, "a: {format: csv}\nb: {zero_based: 3}\nc: {url: x}")
    assert len(str(error.value).splitlines()) == 3


def test_short_entries_are_enough(tmp_path):
    found = load(tmp_path, "a: {}\nb: {source: mirror}\nc: {url: 'https://x/c.zip', train: c1, test: c2}\n")
    assert found["a"] == dataset("a", {})
    assert found["b"].addresses == ()
    assert found["c"].files == ("c1", "c2")


@pytest.mark.parametrize("name", ["../a", "a/b", "/a", ".a", "a b", "a;b", "$(a)", "A", "", "a\n", "manual", "digests"])
def test_a_name_is_no_path_nothing_that_a_shell_reads_and_has_no_other_use(name):
    with pytest.raises(XmlcError, match="expected lower-case letters, digits"):
        dataset(name, {})
