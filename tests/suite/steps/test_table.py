"""Test the files and the output of `xmlc table`."""

from command_line import run
from report_cases import every_method, write


def test_command_prints_only_paths_of_its_files(tmp_path, capsys):
    records = write(tmp_path / "records", every_method())
    prefix = tmp_path / "table2"
    assert run("table", "2", *records, "--paper", "demo", "--out", prefix) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.split() == [f"{prefix}.csv", f"{prefix}.md", f"{prefix}.tex"]
    assert "**42.00**" in prefix.with_suffix(".md").read_text()


def test_invalid_records_are_refused_and_leave_no_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.json").write_text("{")
    (tmp_path / "yeast").mkdir()  # no step wrote this folder
    options = ("--paper", "demo", "--out", "out/t")
    for record, name in (("x.json", "x.json"), ("yeast", "yeast/checksums.json")):
        assert run("table", "1", record, *options) == 1
        assert name in capsys.readouterr().err
    assert run("table", "1", *options) == 2
    assert not (tmp_path / "out").exists()
