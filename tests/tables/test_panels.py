"""Published values as they are read: their printed form, and what is refused."""

import pytest
from repository import ROOT

from xmlc.errors import XmlcError
from xmlc.papers import table_of
from xmlc.tables.panels import Published

FOLDER = ROOT / "results/published"


def test_values_are_kept_as_printed():
    published = Published.read(FOLDER / "plt2016" / "table1.csv", table_of("table1", "plt2016").keys)
    assert published.value(("rcv1-2k", "plt-hashed"), "p@3") == "72.4"
    assert published.value(("amazoncat-13k", "fastxml"), "p@3") == "77.50"
    assert published.value(("yeast", "plt"), "p@3") is None
    assert published.about("dataset").value(("wiki10-31k",), "m") == "30938"


def test_a_broken_transcription_is_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,p@1\na,plt,1\na,plt,2\n")
    with pytest.raises(XmlcError, match=r"table1\.csv: two rows for a, plt"):
        Published.read(file, ("dataset", "model"))
    with pytest.raises(XmlcError, match="no column 'method'"):
        Published.read(file, ("dataset", "method"))
