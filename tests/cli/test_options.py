"""Test errors of options that several commands share."""

import pytest
from click import BadParameter
from click.testing import CliRunner
from command_line import run
from facts import absent, raises_with

from xmlc.cli import group
from xmlc.cli.options import parse_parameters

TRAIN = "train --data d --estimator br --name br --out m --record r.json".split()


@pytest.mark.parametrize("seed", ["-1", "9" * 23])
def test_a_number_out_of_its_range_is_refused(tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(group, [*TRAIN, "--seed", seed])
    assert done.exit_code == 2
    assert absent(done.output, "--seed", seed, 2**32 - 1) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "facts"),
    [
        (("-k", "0"), ["-k", "0", "a whole number of at least 1"]),
        (("--threshold", "1,5"), ["--threshold", "'1,5'", "a number from 0 to 1"]),
    ],
)
def test_messages_describe_ranges_in_words(option, facts, capsys):
    assert run("predict", "new.csv", *option) == 2
    assert absent(capsys.readouterr().err, *facts) == []


def test_unrelated_options_are_not_suggested(capsys):
    assert run("predict", "new.csv", "--seed", "1") == 2
    assert absent(capsys.readouterr().err, "--seed", "--keep") == ["--keep"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"arity": 2, "arity": 4}', "arity"),
        ("{arity: 2}", ["'{arity: 2}'", "JSON"]),
        ("[]", "object"),
    ],
)
def test_hyperparameters_are_object_with_unique_keys(text, said):
    with raises_with(BadParameter, said):
        parse_parameters(text)


@pytest.mark.parametrize(("word", "meant"), [("trian", "train"), ("Status", "status")])
def test_misspelt_subcommand_suggests_nearest(word, meant):
    done = CliRunner().invoke(group, [word])
    assert done.exit_code == 2
    assert absent(done.output, f"'{word}'", f"'{meant}'") == []


@pytest.mark.parametrize("name", ["download", "synth", "prepare", "train", "estimate"])
def test_foreign_folder_is_refused_before_command_starts(tmp_path, capsys, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("mine")
    assert run(name, "--out", tmp_path / "out") == 1
    assert absent(capsys.readouterr().err, f"xmlc: error: {tmp_path}/out", "thesis.tex") == []
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "thesis.tex"]
