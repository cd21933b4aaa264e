"""The rows of benchmarks as Markdown tables that can also be read in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from tabulate import tabulate

from benchmarks.harness import PERCENT, POINTS, RATIO, TIMES, YES_OR_NO, Contender, Report, Row

DECIMALS = {  # number formats by the first word of a unit
    "s": ".3f", "ms": ".4f", "µs": ".1f", "ns": ".3f", "MB": ".1f", "MB/s": ".1f", "million": ".1f",
    PERCENT: ".2f", POINTS: "+.2f", RATIO: ".4f", TIMES: ".2f", "bits": ".2f",
}  # fmt: skip


def to_text(report: Report) -> str:
    """Return a report as text."""
    made = report.environment
    machine = f"{made['cpu']}, xmlc {made['xmlc']}, numba {made['numba']}, {made['time']}"
    parts = [f"{report.dataset}: {report.about}; {machine}"]
    if report.contenders:
        parts.append("\n".join(map(_contender_line, report.contenders)))
    by_task: dict[str, list[Row]] = {}
    for row in report.rows:
        by_task.setdefault(row.task, []).append(row)
    parts += [task_table(task, rows) for task, rows in by_task.items()]
    return "\n\n".join(parts + report.remarks)


def _contender_line(contender: Contender) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in contender.hyperparameters.items())
    return f"- {contender.name}: {contender.what}{f' ({values})' if values else ''}"


def task_table(task: str, rows: Sequence[Row]) -> str:
    """Return the table of one task, contenders by measures."""
    threads = sorted({row.threads for row in rows})
    texts: dict[str, dict[str, str]] = {}
    for row in rows:
        if len(threads) == 1:
            name = row.contender
        else:
            name = f"{row.contender}, {counted(row.threads, 'thread')}"
        if row.unit in ("", YES_OR_NO):
            unit = ""
        else:
            unit = f", {row.unit}"
        texts.setdefault(name, {})[f"{row.measure}{unit}"] = value_text(row)
    measures = list(dict.fromkeys(chain.from_iterable(texts.values())))
    lines = []
    for name, cells in texts.items():
        lines.append([name, *(cells.get(measure, "") for measure in measures)])
    title = f"{task[0].upper()}{task[1:]}"
    if len(threads) == 1 and len(texts) > 0:
        title += f" ({counted(threads[0], 'thread')})"
    notes = _notes(rows)
    return f"**{title}**\n\n{markdown(['', *measures], lines)}" + (f"\n\n{notes}" if notes else "")


def _notes(rows: Iterable[Row]) -> str:
    by_name: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            by_name.setdefault(row.contender, []).append(row.note)
    return "\n".join(
        f"- {name}: {'; '.join(dict.fromkeys(notes))}" for name, notes in by_name.items()
    )


def value_text(row: Row) -> str:
    """Return a value with the decimals of its unit, and the standard deviation of several runs."""
    if row.value != row.value:
        return "-"
    if row.unit == YES_OR_NO:
        if row.value:
            return "yes"
        return "no"
    form = DECIMALS.get(row.unit.split()[0] if row.unit else "", "")
    if not form:
        if abs(row.value) >= 100:
            return f"{row.value:,.0f}"
        return f"{row.value:.3g}"
    text = f"{row.value:{form}}"
    if row.unit == PERCENT and len(row.rounds) > 1:
        text += f" ± {np.std(row.rounds, ddof=1):.2f}"
    return text


def markdown(headings: Sequence[str], lines: Iterable[Sequence[str]], n_texts: int = 1) -> str:
    """Return a Markdown table, of which ``n_texts`` columns are left-aligned."""
    align = ["left"] * n_texts + ["right"] * (len(headings) - n_texts)
    return tabulate(lines, headings, tablefmt="pipe", disable_numparse=True, colalign=align)


def counted(n: int, thing: str) -> str:
    """Return a number and its noun, such as "2 threads"."""
    if n == 1:
        return f"{n} {thing}"
    return f"{n} {thing}s"
