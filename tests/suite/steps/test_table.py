"""Test the files and the output of `xmlc table`."""

from command_line import run
from report_cases import every_method, write


def printed(capsys, *arguments):
    return run("table", *arguments), *capsys.readouterr()


def test_command_prints_only_paths_of_its_files(tmp_path, capsys):
    records = write(tmp_path / "records", every_method())
    prefix = tmp_path / "table2"
    status, out, err = printed(capsys, "2", *records, "--paper", "demo", "--out", prefix)
    assert (status, err) == (0, "")
    assert out.split() == [f"{prefix}.csv", f"{prefix}.md", f"{prefix}.tex"]
    assert "**42.00**" in prefix.with_suffix(".md").read_text()


def test_command_leaves_no_files_after_an_error(tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text("{")
    status, _, err = printed(capsys, "1", path, "--paper", "demo", "--out", tmp_path / "out" / "t")
    assert status == 1
    assert "x.json" in err
    assert not (tmp_path / "out").exists()
    status, _, err = printed(capsys, "1", "--paper", "demo", "--out", tmp_path / "out" / "t")
    assert status == 2
    assert "Missing argument 'RECORDS...'" in err


def test_folder_that_no_step_wrote_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "yeast").mkdir()
    status, _, err = printed(capsys, "1", "yeast", "--paper", "demo", "--out", "t")
    assert status == 1
    assert "yeast/checksums.json" in err
