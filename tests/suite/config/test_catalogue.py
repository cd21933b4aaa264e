"""Check catalogue entries beyond their types, and the sources of the shipped catalogue."""

import re
from dataclasses import fields, replace

import pytest
import yaml
from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.metrics import propensity_parameters
from xmlc.suite.config.catalogue import DATA_KEYS, Dataset, catalogue_entry, load_catalogue

SYNTHETIC = "{n_train: 1, n_test: 1, n_features: 1, n_labels: 1}"
SHIPPED = ROOT / "config/datasets.yaml"


def load(tmp_path, text):
    path = tmp_path / "catalogue.yaml"
    path.write_text(text)
    return load_catalogue(path)


def test_published_averages_agree_with_published_counts():
    # The counts are of the training set. An average that includes the test set would contradict
    # these counts.
    for entry in load_catalogue(SHIPPED).values():
        published = entry.published or {}
        if "instances_per_label" in published:
            pairs = published["n_train"] * published["labels_per_instance"]
            expected = pytest.approx(published["instances_per_label"], rel=5e-3)
            assert pairs / published["m"] == expected, entry.name


def test_shipped_catalogue_has_no_dead_sources():
    entries = load_catalogue(SHIPPED).values()
    drive = []
    for entry in entries:
        assert entry.sources or entry.synthetic
        drive += filter(None, (place.drive for place in (entry, *entry.alternatives)))
    assert not [address for address in drive if address.startswith("0B3lPMIHmG6vG")]
    assert len(drive) == len(set(drive))


def test_each_shipped_dataset_has_edition_and_propensities_of_its_family():
    named = []
    for name, entry in load_catalogue(SHIPPED).items():
        plain = re.sub("-(attentionxml|v2)$", "", name)
        assert bool(entry.edition) != bool(entry.synthetic)
        assert bool(entry.filter) == name.startswith("lf-")
        if entry.edition:
            named.append((plain, entry.edition))
        given = entry.propensity or propensity_parameters(name)  # refuses an unknown name
        family = re.sub("^synthetic-|(-like)?(-shape)?$", "", plain)
        assert given == propensity_parameters(family)
    assert len(named) == len(set(named))


# Maps an entry to the begin of its message.
MISTAKES = {
    "a: {format: coordinates, train: [x, y], test: z}": "a: train",
    "a: {format: vw, train: x, test: y, labels: z}": "a: labels",
    "a: {split_files: {train: x, test: y}}": "a: split_files",
    "a: {train: x, test: x}": "a: train and test: found the same file",
    "a: {urls: {train.txt: 'http://x/y'}}": "a: urls",
    f"a: {{url: 'http://x/y', synthetic: {SYNTHETIC}}}": "a: synthetic",
    "a: {alternatives: [{train: x, test: x}]}": "a: alternatives[0]",
    "a: {train: ..}": "a: found '..'",
    "a: {url: 'ftp://x/y'}": "a.url",
    "a: {urls: {train.txt: {url: 'http://x/y', blob: 12}}}": "a.urls.train.txt",
    "a: {propensity: [0.5, 0]}": "a.propensity[1]",
    "a: {drvie: abcdefghijk}": "a.drvie: unknown key: found 'drvie', expected drive or one of",
    "a: {published: {n_train: 3}}": "a.published",
    "manual: {}": "manual: found 'manual'",
    "- a": "found ['a']",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_contradictory_entry_is_refused_with_its_name_and_key(tmp_path, text):
    with pytest.raises(XmlcError) as error:
        load(tmp_path, text)
    message = str(error.value).removeprefix(f"{tmp_path}/catalogue.yaml").removeprefix(":1")
    assert message.startswith(f": {MISTAKES[text]}")


def test_alternative_sources_inherit_the_filter(tmp_path):
    text = "a: {filter: pairs.txt, alternatives: [{train: c1, test: c2}]}"
    entry = load(tmp_path, text)["a"]
    assert [layout.files[-1] for layout in entry.layouts] == ["pairs.txt"] * 3
    given = {"filter": "pairs.txt.gz", "train": ["train.txt"], "test": ["test.txt"]}
    assert entry.stored(given).filter == "pairs.txt.gz"
    assert entry.renamed({"pairs.txt": "pairs.txt.gz"}).filter == "pairs.txt.gz"


@pytest.mark.parametrize(
    "name", ["../a", "a/b", "/a", ".a", "a b", "a;b", "$(a)", "A", "", "manual", "digests"]
)
def test_unsafe_or_reserved_dataset_names_are_refused(name):
    with raises_with(XmlcError, repr(name)):
        catalogue_entry(name, {})


#: A value of each key that differs from the default.
EDITED = yaml.safe_load("""
format: svmlight
zero_based: false
train: a.txt
test: b.txt
labels: names.xml
split_files: {train: rows.txt, test: other.txt}
filter: pairs.txt
synthetic: {n_train: 2, n_test: 1, n_features: 1, n_labels: 1}
name: another
drive: '0123456789'
url: https://example.org/a.zip
urls: {train.txt: https://example.org/train.txt}
source: mirror
published: {n_train: 5, source: a paper}
shape: {m: 5}
memory: 16000
runtime: 600
splits: {plt2016: {same: true, evidence: the sizes are the same, report_on: other}}
propensity: [0.5, 0.4]
edition: the first
homepage: https://example.org
licence: CC0
""") | {"alternatives": [Dataset("mine", url="https://example.org/b.zip")]}


def test_only_keys_that_change_data_rebuild_a_dataset():
    assert {field.name for field in fields(Dataset)} == {*EDITED}
    before = Dataset("mine")
    for key, value in EDITED.items():
        after = replace(before, **{key: value})
        assert (after.data_settings != before.data_settings) == (key in DATA_KEYS), key


def test_layout_of_the_catalogue_rebuilds_nothing(tmp_path):
    before = load(tmp_path, f"a: {{synthetic: {SYNTHETIC}}}")["a"].data_settings
    other = "synthetic: {n_labels: 1, n_train: 1, n_test: 1, n_features: 1"
    for text in (f"{other}}}, licence: x", f"test: test.txt, {other}}}"):
        assert load(tmp_path, f"a: {{{text}}} # a comment")["a"].data_settings == before
    assert load(tmp_path, f"a: {{{other}, seed: 3}}}}")["a"].data_settings != before


def test_entry_that_was_edited_after_planning_is_refused():
    planned = Dataset("mine").data_settings
    edited = Dataset("mine", filter="pairs.txt").data_settings
    catalogue_entry("mine", {"mine": Dataset("mine", licence="CC0")}, planned)
    catalogue_entry("mine", {}, None)  # A user runs the step by hand.
    with raises_with(XmlcError, "mine", "pairs.txt"):
        catalogue_entry("mine", {}, edited)
