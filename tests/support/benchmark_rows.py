"""What a benchmark wrote with `--out`, looked up by contender, task and measure."""

import json

from benchmarks.__main__ import group


def run_benchmark(folder, *arguments):
    """Call a benchmark's command and return the rows that it wrote, by contender, task, measure and threads."""
    out = folder / "bench.json"
    group.main([*map(str, arguments), "--out", str(out)], standalone_mode=False)
    rows = json.loads(out.read_text())["rows"]
    found = by_key(rows)
    assert len(found) == len(rows)  # no figure is there twice
    return found


def by_key(rows):
    """Return rows, as dictionaries, by contender, task, measure and threads."""
    rows = [row if isinstance(row, dict) else vars(row) for row in rows]
    return {(row["contender"], row["task"], row["measure"], row["threads"]): row for row in rows}
