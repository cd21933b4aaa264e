"""Text that rules are made of."""

import subprocess

from xmlc.suites.rule_text import for_each


def test_a_command_runs_for_the_first_words_of_each_list_then_for_the_second_until_one_fails():
    text = for_each({"seed": "{seeds}", "seed_log": "{logs}"}, 'echo "$seed of $seed_log"; [ $seed != 2 ]')
    words = "set -euo pipefail; " + text.format(seeds="0 2 5", logs="a b c")
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["0 of a", "2 of b"]
    assert done.returncode == 1
