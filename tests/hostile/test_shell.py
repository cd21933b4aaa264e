"""Test that each name in the configuration is one word of a shell command, whatever characters it
has.
"""

import json
import shlex

import pytest
from small_run import SET, SmallRun

pytestmark = pytest.mark.slow
NASTY = 'a b\'; touch pwned; echo "$(touch pwned)`touch pwned`" & | > pwned \\ * %s'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return a run whose mirror, extension, estimator and hyperparameter contain the name
    `NASTY`.
    """
    run = SmallRun(tmp_path_factory.mktemp("project"))
    (run.folder / "mirror").rename(run.folder / NASTY)
    (run.folder / f"{NASTY}.py").write_text(
        "from xmlc.models import PLT\n\n\nclass Mine(PLT): ...\n"
    )
    run.edit_yaml("config/demo.yaml", lambda content: content.update(extensions=[f"{NASTY}.py"]))
    # Planning does not read a user's class.
    model = {"estimator": f"{NASTY}.py:Mine", "hyperparameters": {"tree": NASTY}}
    run.edit_yaml("config/demo.yaml", lambda content: content.update(models={"mine": model}))
    run.words = ("--config", f"mirror={NASTY}", "threads=1")
    return run


def words_of(said, command):
    """Return the words of a shell command that Snakemake prints."""
    (line,) = [line for line in said.splitlines() if f"xmlc {command} " in line]
    return shlex.split(line)


def test_configured_names_are_single_shell_words(hostile):
    said = hostile.run_well("--dry-run", "--printshellcmds", "demo", *hostile.words)
    assert NASTY in words_of(said, "download")
    assert f"{NASTY}.py" in words_of(said, "thresholds")
    assert f"{NASTY}.py:Mine" in words_of(said, "train")
    (parameters,) = [word for word in words_of(said, "train") if word.startswith("{")]
    assert json.loads(parameters)["tree"] == NASTY
    hostile.run_well(f"resources/{SET}", *hostile.words)
    assert (hostile.folder / f"resources/{SET}/train.txt").exists()
    assert not (hostile.folder / "pwned").exists()
