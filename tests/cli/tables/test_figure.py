"""`xmlc figure`: the files that it writes."""

from command_line import run
from report_cases import every_method, write


def test_it_prints_where_both_files_are(tmp_path, capsys):
    paths = write(tmp_path / "records", every_method())
    assert run("figure", "figure1", "--paper", "demo", *paths, "--out", tmp_path / "figure1") == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "figure1.svg"), str(tmp_path / "figure1.png")]
