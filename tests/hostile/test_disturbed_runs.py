"""Test that the same command finishes a killed run after `--unlock`, with the same tables, and
repeats no job.
"""

import os
import random
import signal
import subprocess

import pytest
from small_run import SmallRun

pytestmark = pytest.mark.slow
MOMENTS = 20
IN_CI = (6, 13)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    run = SmallRun(tmp_path_factory.mktemp("project"))
    return run, run.seconds(), run.outcome()


@pytest.mark.parametrize("moment", range(MOMENTS) if "FUZZ" in os.environ else IN_CI)
def test_same_command_finishes_run_killed_at_any_moment(undisturbed, moment):
    run, seconds, expected = undisturbed
    run.unmake()
    share = (moment + random.Random(moment).random()) / MOMENTS
    process = run.begin()
    try:
        process.wait(share * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    run.check_whole(expected[1])
    ended = run.ended()
    run.unlock()
    run.finish()
    after = run.ended()
    assert {name: after[name] for name in ended} == ended, "what had ended was made again"
    assert run.outcome() == expected
