"""The commands of the tutorials run as printed, and print what the pages show."""

import pytest
from repository import ROOT
from tutorials import run_bash, run_python, steps


@pytest.mark.slow
def test_tag_texts_prints_output_that_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, code, shown in steps((ROOT / "docs/tag_texts.md").read_text()):
        said = run_python(code, names) if language == "python" else run_bash(code, tmp_path)
        assert said == (shown or "")
