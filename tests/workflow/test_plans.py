"""Test plans of the workflow on a tiny copy of the project in which nothing has run yet."""

import pytest
from facts import absent
from project_copy import Project as ProjectCopy
from project_copy import counts_of
from repository import ROOT

from xmlc.suite.config.project import Project
from xmlc.suite.papers.plan import instead_of

SUITES = [f"config/papers/{name}.yaml" for name in ("plt2016", "ldsm2020", "gfm2011")]
SUITES.append("config/demo.yaml")
FAR = ("--config", "datasets=[far-set]", "mirror=http://localhost/none")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return ProjectCopy(tmp_path_factory.mktemp("plans"))


@pytest.mark.slow
def test_swnn2018_always_searches_and_first_tables_need_no_model(project):
    planned = project.planned("swnn2018", *FAR)
    expected = {"download": 1, "prepare": 1, "tune": 1, "table": 8}
    # One job trains and ranks with a nearest-neighbour index.
    expected["train_and_rank_seeds_0"] = 1
    expected["score"] = 1
    assert planned == expected
    # On datasets that are known to be small, BR is also trained, because a claim compares with BR.
    small = project.planned("swnn2018", "--config", "datasets=[bibtex]", FAR[2])
    assert small == expected | {"train": 1, "rank": 1, "score": 2}
    planned = project.planned("results/tables/swnn2018/table3.csv", *FAR)
    assert planned == {"download": 1, "prepare": 1, "table": 1}


@pytest.mark.slow
def test_batched_seeds_are_one_job(project):
    folder = "results/far-set/oplt-b-1-pass/seed4"
    jobs = {"download": 1, "prepare": 1, "train_and_rank_seeds_0_1_2_3_4": 1, "score": 1}
    assert project.planned(f"{folder}/full/ranking.json", *FAR) == jobs
    jobs = {"download": 1, "prepare": 1, "train": 1}
    assert project.planned(f"{folder}/80/train.json", *FAR) == jobs


def test_all_papers_submit_at_most_800_jobs_and_a_large_model_is_one_job(project):
    """The test uses the project's own configuration, which has more models than the copy."""
    with project.restored(*SUITES):
        for name in SUITES:
            (project.folder / name).write_text((ROOT / name).read_text())
        planned = project.planned("all")
    # Scores are computed where Snakemake runs.
    assert sum(planned.values()) - planned["score"] <= 800
    # The small datasets of these suites need no thresholds.
    assert planned["train_80_estimate_thresholds"] == 12
    assert planned["train_80_estimate_thresholds_infer"] == 24
    assert {"thresholds", "estimate"} & planned.keys() == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outputs", "last"),
    [(["evaluation", "thresholds"], "thresholds"), (["inference"], "infer")],
)
def test_methods_of_one_model_are_one_job(project, outputs, last):
    targets = [f"results/demo/plt/seed0/80/{name}" for name in outputs]
    jobs = {"synthesise": 1, "prepare": 1, "train": 1, "estimate": 1, last: 1}
    assert project.planned(*targets) == jobs


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("plt2061", "plt2016"),
        ("config/config.yaml", "all"),
        ("results/demo/data/", "results/demo/data"),
        ("results/demo/data/train/X.npy", "results/demo/data"),
        ("results/tables/plt2061/table1.md", "results/tables/plt2016/table1.md"),
        ("table4", "results/tables/ldsm2020/table4.csv"),
    ],
)
def test_unknown_target_has_a_similar_one(target, expected):
    every = Project.read({"papers": []}, ROOT / "config")
    rules = ["all", "plt2016", "prepare"]
    instead = instead_of(target, every, lambda path: path == "results/demo/data", rules)
    assert absent(instead, expected) == []


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["demo", "--config", "mirorr=x"], ["'mirorr'", "mirror"]),
        (["demo", "--config", "mirror=profile"], ["mirror", "profile", "profiles"]),
        (["results/tables/plt2016/tabel2.md"], ["tabel2", "plt2016", "table2"]),
        (["demo", "--forcerun", "rnak"], ["target rnak", "rank"]),
    ],
)
def test_mistake_prints_one_line_before_any_job(project, words, facts):
    done = project.run("--dry-run", *words)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("xmlc: error: ")]
    assert absent(line, facts) == []
    assert absent(done.stdout + done.stderr, "Traceback", "Exception") == ["Traceback", "Exception"]


def test_unknown_name_in_a_suite_is_refused_before_a_job_graph_exists(project):
    demo = "config/demo.yaml"
    with project.restored(demo):
        project.edit_yaml(
            demo, lambda content: content["models"]["plt"].update(without={"demmo": "why"})
        )
        done = project.run("demo")
    assert done.returncode == 1
    assert absent(done.stderr, f"xmlc: error: {demo}", "models.plt.without", "demmo") == []
    made = [".snakemake/last-run.json", "logs", "resources/demo", "results/demo", "results/tables"]
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
use rule * from xmlc as {prefix}*
rule mine:
    input: "results/demo/data"
    output: "mine.txt"
    shell: "touch {{output}}"
"""
    )
    words = ["--dry-run", "--directory", str(host), "--snakefile", str(host / "Snakefile")]
    planned = counts_of(project.run_well(*words, "mine.txt", f"{prefix}demo"))
    assert {f"{prefix}thresholds", "mine"} <= planned.keys()
    done = project.run(*words, "results/far/data")
    assert "dataset far: " in done.stdout + done.stderr
