"""Test plans of the workflow on a tiny copy of the project in which nothing has run yet."""

import pytest
from facts import absent
from project_copy import Project, counts_of
from repository import ROOT

SUITES = (
    "config/demo.yaml",
    *(f"config/papers/{name}.yaml" for name in ("plt2016", "ldsm2020", "gfm2011")),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("plans"))


@pytest.mark.slow
def test_swnn2018_always_searches_and_first_tables_need_no_model(project):
    settings = ("--config", "datasets=[far-set]", "mirror=http://localhost/none")
    planned = project.planned("swnn2018", *settings)
    expected = {"download": 1, "prepare": 1, "tune": 1, "table": 8}
    # One job trains and ranks with a nearest-neighbour index.
    expected["train_and_rank_seeds_0"] = 1
    expected["score"] = 1
    assert planned == expected
    assert project.planned("swnn2018", *settings, "tuning={method: random, budget: 2}") == expected
    # On datasets that are known to be small, BR is also trained, because a claim compares with BR.
    small = project.planned(
        "swnn2018", "--config", "datasets=[bibtex]", "mirror=http://localhost/none"
    )
    assert small == expected | {"train": 1, "rank": 1, "score": 2}
    planned = project.planned("results/tables/swnn2018/table3.csv", *settings)
    assert planned == {"download": 1, "prepare": 1, "table": 1}


@pytest.mark.slow
def test_target_tables_plans_no_figure_or_figure_input(project):
    settings = (
        "--config",
        "datasets=[far-set]",
        "mirror=http://localhost/none",
        "papers=[demo, oplt2021]",
    )
    planned = project.planned("tables", *settings)
    assert planned["table"] == 5 + 5
    assert not {"figure", "progressive"} & set(planned)


@pytest.mark.slow
def test_batched_seeds_are_one_job(project):
    settings = ("--config", "mirror=http://localhost/none")
    before = {"download": 1, "prepare": 1}
    ranking = "results/far-set/oplt-b-1-pass/seed4/full/ranking.json"
    assert project.planned(ranking, *settings) == before | {
        "train_and_rank_seeds_0_1_2_3_4": 1,
        "score": 1,
    }
    assert project.planned(
        "results/far-set/oplt-b-1-pass/seed4/80/train.json", *settings
    ) == before | {"train": 1}


def test_all_papers_submit_at_most_800_jobs_and_a_large_model_is_one_job(project):
    """The test uses the project's own configuration, which has more models than the copy."""
    with project.restored(*SUITES):
        for name in SUITES:
            (project.folder / name).write_text((ROOT / name).read_text())
        planned = project.planned("all")
    # it runs where Snakemake runs
    submitted = {rule: count for rule, count in planned.items() if rule != "score"}
    assert sum(submitted.values()) <= 800
    held_out = [
        planned[f"train_80_{steps}"]
        for steps in ("estimate_thresholds", "estimate_thresholds_infer")
    ]
    assert held_out == [12, 24]  # The small datasets of these suites need no thresholds.
    assert {"thresholds", "estimate"} & planned.keys() == set()


@pytest.mark.slow
def test_methods_of_one_model_are_one_job(project):
    folder = "results/{}/plt/seed0/80/{}"
    before = {"prepare": 1, "train": 1, "estimate": 1}
    both = [folder.format("demo", name) for name in ("evaluation", "thresholds")]
    assert project.planned(*both) == {"synthesise": 1} | before | {"thresholds": 1}
    assert project.planned(folder.format("demo", "inference")) == {"synthesise": 1} | before | {
        "infer": 1
    }
    settings = ("--config", "mirror=http://localhost/none")
    planned = project.planned(folder.format("far-set", "evaluation"), *settings)
    assert planned == {"download": 1, "tune": 1} | before | {"thresholds": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", "--config", "mirorr=x"], ["'mirorr'", "mirror"]),
        (["--config", "papers=[]"], "config: papers"),
        (["plt2061"], ["target plt2061", "plt2016"]),
        (["demo", "--forcerun", "rnak"], ["target rnak", "rank"]),
        (["results/tables/plt2061/table1.md"], "results/tables/plt2016/table1.md"),
        (["results/tables/plt2016/tabel2.md"], ["tabel2", "plt2016", "table2"]),
        (["table4"], "table4.csv"),
        (["results/demo/data/"], "results/demo/data"),
        (["results/demo/statistic.json"], "results/demo/statistics.json"),
        (["results/demo/plt/seed0/80/evaluation/fta.json"], "results/demo/plt/seed0/80/evaluation"),
        (["results/demo/plt/seed0/full/model/model.json"], "results/demo/plt/seed0/full/model"),
        (["config/config.yaml"], ["target config/config.yaml", "all"]),
        (["plt2016", "--config", "datasets=bibtec"], ["dataset bibtec", "bibtex"]),
        (["plt2016", "--config", "datasets=larg"], ["larg", "large"]),
        (["demo", "--config", "mirror=profile"], ["mirror", "profile", "profiles"]),
        (["plt2016", "--config", "datasets=[1_2]"], ["datasets=[1_2]", "1_2"]),
    ],
)
def test_mistake_prints_one_line_before_any_job(project, words, said):
    done = project.run("--dry-run", *words)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("xmlc: error: ")]
    assert len(lines) == 1
    assert absent(lines[0], said) == []
    assert "Traceback" not in done.stdout + done.stderr
    assert "Exception" not in done.stdout + done.stderr


def test_ambiguous_config_values_are_refused_with_line(project):
    with project.restored("config/config.yaml"):
        file = project.folder / "config/config.yaml"
        file.write_text("papers: [demo]\nthreads: 010\n")
        done = project.run("--dry-run")
    assert absent(done.stderr, "xmlc: error: config/config.yaml:2", "010") == []


def test_unknown_name_in_a_suite_is_refused_before_a_job_graph_exists(project):
    with project.restored("config/demo.yaml"):
        project.edit_yaml(
            "config/demo.yaml",
            lambda content: content["models"]["plt"].update(without={"demmo": "why"}),
        )
        done = project.run("demo")
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert (
        absent(said, "xmlc: error: config/demo.yaml", "models.plt.without", "demmo", "demo") == []
    )
    assert len(absent(said, "Traceback", "DAG", "Job stats")) == 3
    made = [
        ".snakemake/last-run.json",
        "logs",
        "resources/demo",
        "results/demo",
        "results/tables/demo",
    ]
    assert [name for name in made if (project.folder / name).exists()] == []


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["", "xmlc_"])
def test_other_workflow_imports_rules_and_keeps_its_targets(project, prefix):
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
    assert {f"{prefix}thresholds", "mine"} <= counts_of(
        project.run_well(*words, "mine.txt", f"{prefix}demo")
    ).keys()
    done = project.run(*words, "results/far/data")
    assert "dataset far: " in done.stdout + done.stderr
