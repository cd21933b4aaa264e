"""Commands that several rules call."""

from types import SimpleNamespace

from xmlc.suites.commands import infer_beside, rank_with, train_with
from xmlc.suites.jobs import InferenceJob, ThresholdJob


def test_commands_write_where_they_are_told_and_log_there():
    trained, ranked = train_with("$seed", "$model", "$record", "$log"), rank_with("$model", "$record", "$out", "$log")
    assert trained.startswith("xmlc train ")
    assert trained.endswith("--out $model --record $record 2> $log")
    assert ranked.startswith("xmlc rank ")
    assert "--seed $seed" in trained
    assert "--training $record" in ranked


def test_what_is_inferred_beside_thresholds_follows_their_command():
    snakemakes = {
        "wildcards": SimpleNamespace(),
        "input": SimpleNamespace(data="data", estimates="80/spe", training="80/train.json"),
        "output": ["80/thresholds/fta", "80/evaluation/fta.json", "80/inference/h.json"],
        "threads": 2,
        "resources": SimpleNamespace(mem_mb=300),
    }
    alone = ThresholdJob("thresholds_a", ["fta"], ["plt"], "yeast")
    assert infer_beside(alone, [])(**snakemakes) == ""
    beside = ThresholdJob(
        "thresholds_a", ["fta"], ["plt"], "yeast", inference=InferenceJob("plt", "80", ["h"], 9, None)
    )
    assert infer_beside(beside, ["my file.py"])(**snakemakes) == (
        "; xmlc infer --data data --estimates 80/spe --training 80/train.json --method h --samples 9"
        " --extension 'my file.py' --threads 2 --plan thresholds 300 --out 80/inference 2> ${log[1]}"
    )
