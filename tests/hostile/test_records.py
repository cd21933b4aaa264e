"""Records of every kind, mutated: accepted only where no number and no word changed, else refused by name."""

import json
import random

import pytest
import yaml
from fuzzing import count, folder_in_memory, limited_time, mutations
from record_cases import search, statistics
from report_cases import inference, ranking, sweep, thresholds

from xmlc.checksums import KEY, stamped
from xmlc.errors import XmlcError
from xmlc.records.reading import read_record
from xmlc.records.statistics import Statistics
from xmlc.records.training import read_searches

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # they differ over tabs
KINDS = {
    "ranking": (ranking(), read_record),
    "thresholds": (thresholds(), read_record),
    "inference": (inference(), read_record),
    "sweep": (sweep(), read_record),
    "statistics": (statistics(), Statistics.read),
    "search": (search(), lambda path: read_searches([path])),
}


def text_of(kind, content):
    return yaml.safe_dump(content, sort_keys=False) if kind == "search" else json.dumps(content, indent=2)


def plain(kind, text):
    """What the text says, the checksum left out; None where it is no object."""
    try:
        # A safe loader, which makes plain values and no objects; `yaml.safe_load` has no choice of the one in C.
        content = yaml.load(text, Loader=LOADER) if kind == "search" else json.loads(text)
        json.dumps(content, sort_keys=True)
    except (ValueError, TypeError, RecursionError, yaml.YAMLError):
        return None
    return {key: value for key, value in content.items() if key != KEY} if isinstance(content, dict) else None


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_record_is_refused_by_name_or_says_the_same(kind):
    content, read = KINDS[kind]
    whole, rng = text_of(kind, stamped(content)), random.Random(0)
    refused = []
    with folder_in_memory() as folder, limited_time() as start:
        path = folder / f"record.{'yaml' if kind == 'search' else 'json'}"
        for (mutated,) in mutations([(whole.encode(),)], count(500), tokens=("1e999", "null", '"a"', "[", "]")):
            text = mutated.decode(errors="replace")
            changed = plain(kind, text)
            is_listed = changed is not None and rng.random() < 0.5  # with a checksum of its own the types alone judge
            path.write_bytes(text_of(kind, stamped(changed)).encode() if is_listed else mutated)
            start()
            try:
                read(path)
                assert is_listed or changed == plain(kind, whole), text
            except XmlcError as error:
                refused.append(str(error))
    assert all(str(path) in error for error in refused)
    assert refused
