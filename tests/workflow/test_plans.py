"""What the workflow would run, on a tiny copy of the project in which nothing has run yet."""

import pytest
from project_copy import Project
from repository import ROOT

SUITES = ("config/demo.yaml", *(f"config/papers/{name}.yaml" for name in ("plt2016", "ldsm2020", "gfm2011")))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("plans"))


@pytest.mark.slow
def test_swnn2018_searches_whatever_is_configured_and_its_first_tables_need_no_model(project):
    settings = ("--config", "datasets=[far-set]", "mirror=http://localhost/none")
    planned = project.planned("swnn2018", *settings)
    expected = {"download": 1, "prepare": 1, "tune": 1, "table": 7, "swnn2018": 1}
    expected["train_and_rank_of_1_seed"] = 1  # a nearest-neighbour index
    assert planned == expected
    assert project.planned("swnn2018", *settings, "tuning={method: random, budget: 2}") == expected
    # On a set that is known to be small BR is trained too, which one of the claims compares with.
    small = project.planned("swnn2018", "--config", "datasets=[bibtex]", "mirror=http://localhost/none")
    assert small == expected | {"train": 1, "rank": 1}
    planned = project.planned("results/tables/swnn2018/table3.csv", *settings)
    assert planned == {"download": 1, "prepare": 1, "table": 1}


@pytest.mark.slow
def test_the_target_tables_makes_no_figure_nor_what_only_figures_need(project):
    settings = ("--config", "datasets=[far-set]", "mirror=http://localhost/none", "papers=[demo, oplt2021]")
    planned = project.planned("tables", *settings)
    assert planned["table"] == 5 + 4
    assert not {"figure", "progressive", "progressive_of_5_seeds"} & set(planned)


@pytest.mark.slow
def test_a_seed_that_no_suite_has_is_a_job_of_its_own(project):
    settings = ("--config", "mirror=http://localhost/none")
    record = "results/far-set/oplt-b-1-pass/seed{}/full/ranking.json"
    before = {"download": 1, "prepare": 1}
    assert project.planned(record.format(4), *settings) == before | {"train_and_rank_of_5_seeds": 1}
    assert project.planned(record.format(5), *settings) == before | {"train": 1, "rank": 1}
    held_out = "results/far-set/oplt-b-1-pass/seed4/80/train.json"
    assert project.planned(held_out, *settings) == before | {"train": 1}


def test_all_papers_are_at_most_500_jobs_and_few_read_the_same_estimates(project):
    """With the configuration of the project itself, which has more models than the copy."""
    with project.restored(*SUITES):
        for name in SUITES:
            (project.folder / name).write_text((ROOT / name).read_text())
        planned = project.planned("all")
    assert sum(planned.values()) <= 500
    estimates = planned["estimate"]
    readers = [count for rule, count in planned.items() if rule.startswith("thresholds_")]
    assert sum(readers) <= 3 * estimates


def test_thresholds_of_a_model_are_one_job_where_they_are_configured(project):
    """Of the methods of all papers that have the model; those of the demo are for its own dataset alone."""
    record = "results/{}/{}/seed0/80/evaluation/{}.json"
    before = {"prepare": 1, "train": 1, "estimate": 1}
    both = [record.format("demo", "plt", method) for method in ("sto", "for-instance-f")]
    of_demo = {"synthesise": 1} | before | {"thresholds_demo_plt": 1}
    assert project.planned(*both) == of_demo
    # What is inferred from the same estimates is part of it.
    inferred = "results/demo/plt/seed0/80/inference/gfm.json"
    assert project.planned(inferred) == of_demo
    settings = ("--config", "mirror=http://localhost/none")
    planned = project.planned(record.format("far-set", "plt", "for-instance-f"), *settings)
    assert planned == {"download": 1, "tune": 1} | before | {"thresholds_papers_plt": 1}
    # What no suite asks for is a job of its own.
    other = project.planned(record.format("demo", "plt", "for-macro-f2"))
    assert other == {"synthesise": 1} | before | {"thresholds_anywhere": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", "--config", "mirorr=x"], "unknown key: found 'mirorr', expected mirror"),
        (["--config", "papers=[]"], "papers names none, so nothing is planned; name some of"),
    ],
)
def test_a_mistake_in_the_configuration_is_found_before_anything_runs(project, words, said):
    done = project.run("--dry-run", *words)
    assert done.returncode != 0
    assert said in (done.stdout + done.stderr).splitlines()[-1]
    assert "File " not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["", "xmlc_"])
def test_another_workflow_may_import_the_rules_and_has_targets_of_its_own(project, prefix):
    host = project.folder / f"host-{prefix}"
    host.mkdir()
    for name in ("config", "profiles"):
        (host / name).symlink_to(project.folder / name)
    (host / "Snakefile").write_text(
        f"""
configfile: "config/config.yaml"
module xmlc:
    snakefile: "{project.folder}/Snakefile"
    config: config
use rule * from xmlc{" as xmlc_*" if prefix else ""}
rule mine:
    input: "results/demo/data"
    output: "mine.txt"
    shell: "touch {{output}}"
"""
    )
    words = ("--dry-run", "--directory", str(host), "--snakefile", str(host / "Snakefile"))
    said = project.run_well(*words, "mine.txt", f"{prefix}demo")
    assert f"{prefix}thresholds_demo_plt" in said
    assert "mine  " in said
    done = project.run(*words, "results/far/data")
    assert "dataset far: the catalogue knows no address for it" in done.stderr
