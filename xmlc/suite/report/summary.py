"""A comparison told: what moved, as text for a terminal and as Markdown for a pull request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from tabulate import tabulate

from xmlc.suite.config.folders import STUDY
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.panels import named
from xmlc.suite.papers.printing import escaped
from xmlc.suite.report.changes import some, told
from xmlc.suite.report.compare import Cell, Comparison, published_lines
from xmlc.suite.report.judge import OurNumber
from xmlc.suite.report.runs import Place, Runs, Spread, half_width
from xmlc.suite.report.verdict import Kind, Verdict
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import Fingerprint
from xmlc.suite.results.frame import quantities_of
from xmlc.suite.results.titles import TITLES

HEADLINES = ("p@1", "macro_f", "instance_f", "accuracy")  # the quantities that papers are about
OF_A_STUDY = ("p@1", "macro_f_present", "instance_f", "accuracy")
MOVES, CHANGED_CLAIMS, PARTS = 10, 12, 4
LIMIT = 60_000  # characters; a comment on GitHub has at most 65,536
WIDEST = 100  # characters in a cell of Markdown


class Section(NamedTuple):
    """One line, and the rows that it sums up."""

    line: str
    headings: tuple[str, ...] = ()
    rows: Sequence[Sequence[str]] = ()


class Told(NamedTuple):
    """A comparison in words: some lines, its largest moves, and the rest in the paper's order."""

    head: list[str]
    moves: Section
    sections: list[Section]


class Move(NamedTuple):
    """A number that moved: whether seeds alone may move it so far, by how much, and its line."""

    within_noise: bool
    size: float
    line: list[str]


def tell_runs(
    comparisons: Sequence[Comparison], old: Fingerprint, new: Fingerprint, title: str, runs: Runs | None = None
) -> Told:
    """Tell what moved between two runs of ours; ``runs`` are those on file, which say how much seeds matter."""
    lines = [move.line for move in largest_moves(comparisons, runs or Runs())]
    known = "those within seed noise last" if any(line[-1] for line in lines) else "noise over seeds not known"
    largest = Section(f"Largest moves of headline quantities, {known}:", rows=lines[:MOVES])
    headings = ("row", "column", "old", "new", "difference", "verdict")
    sections = [
        Section(f"{_name(one)}: {_moved(one)}", headings, [[*_cell(cell), str(cell.verdict)] for cell in one.moved()])
        for one in comparisons if not one.same
    ]  # fmt: skip
    if equal := [_name(one) for one in comparisons if one.same]:
        sections.append(Section(f"Equal: {', '.join(equal)}"))
    differ = told((one.settings for one in comparisons if one.keys), moved=any(one.moved() for one in comparisons))
    words = f"Same fingerprint, {new.word}: every number but costs is the same" if old == new else (
        f"Fingerprints differ: old {old.word}, new {new.word}"
    )  # fmt: skip
    head = [words, touched(comparisons), differ, title]
    return Told(head, largest, [*sections, *_costs(comparisons)])


def tell_published(comparisons: Sequence[Comparison], title: str) -> Told:
    """Tell how our numbers stand beside a paper's: those that it measured first, each kind by itself."""
    cells = [(one, cell) for one in comparisons for cell in one.compared()]
    far = [
        (abs(cell.judgement.difference / cell.judgement.interval),
         [_where(one, cell), " -> ".join(_both(cell)), _difference(cell), _interval(cell)])
        for one, cell in cells
        if cell.kind is Kind.MEASURED and cell.verdict in (Verdict.ABOVE, Verdict.BELOW) and cell.judgement.interval
    ]  # fmt: skip
    farthest = [line for _, line in sorted(far, key=lambda found: -found[0])[:MOVES]]
    headings = ("table", "row", "column", "published", "measured", "difference", "interval")
    groups: dict[tuple[Kind, Verdict], list[list[str]]] = {(kind, verdict): [] for kind in Kind for verdict in Verdict}
    for one, cell in cells:
        groups[cell.kind, cell.verdict].append([_name(one), *_cell(cell), _interval(cell)])
    sections = [Section(f"{kind}, {verdict}: {_count(len(rows), 'cell')}{_sizes(kind, verdict, cells)}", headings, rows)
                for (kind, verdict), rows in groups.items() if rows]  # fmt: skip
    sections += [
        Section(f"{_name(one)}: {headline([one])}", ("not run",), [(" / ".join(part.name),) for part in one.parts])
        for one in comparisons
    ]
    moves = Section("Farthest outside, measured by the interval:", rows=farthest)
    return Told([headline(comparisons), title], moves, [*sections, *_costs(comparisons)])


def _sizes(kind: Kind, verdict: Verdict, cells: Iterable[tuple[Comparison, Cell]]) -> str:
    """Say how far numbers that no chance explains are from print; constants are different without a size."""
    shares = [
        abs(100 * cell.judgement.difference / float(cell.left))
        for _, cell in cells
        if cell.kind is kind is Kind.MEASURED and cell.verdict is verdict is Verdict.DIFFERENT and float(cell.left)
    ]
    return f", by {min(shares):.2g} to {max(shares):.2g} % of the printed number" if shares else ""


def touched(comparisons: Sequence[Comparison]) -> str:
    """Count the cells, rows and tables that moved; the parts that only one side has stand apart."""
    moved = [(one.name, cell.key) for one in comparisons for cell in one.moved()]
    every = len([cell for one in comparisons for cell in one.compared()])
    tables = _count(len(comparisons), "table")
    said = f"No cell moved of {every:,} in {tables}"
    if moved:
        of = f"{len({name for name, _ in moved})} of {tables}"
        said = f"{len(moved):,} of {_count(every, 'cell')} moved, in {_count(len(set(moved)), 'row')} of {of}"
    return "; ".join([said, *_parts(comparisons)])


def headline(comparisons: Sequence[Comparison]) -> str:
    """Count the verdicts beside a paper, those on cells that it measured first."""
    return "; ".join([*published_lines(comparisons), *_parts(comparisons)])


def largest_moves(comparisons: Iterable[Comparison], runs: Runs) -> list[Move]:
    """Return the headline quantities that moved, the largest first and those within noise last; each number once."""
    found: dict[tuple[str, ...], Move] = {}
    for one in comparisons:
        headlines = OF_A_STUDY if one.paper == STUDY else HEADLINES
        for cell in one.moved():
            if cell.column in headlines and math.isfinite(cell.judgement.difference):
                about = dict(zip(one.keys, cell.key))
                number = about.get("dataset", ""), about.get("model", ""), cell.column, cell.left, cell.right
                found.setdefault(number, _move(one, cell, runs))
    return sorted(found.values(), key=lambda move: (move.within_noise, -move.size))


def _move(one: Comparison, cell: Cell, runs: Runs) -> Move:
    """Look at a move beside the spread over seeds of the side with more of them, or of the runs on file."""
    old, new = (OurNumber.of(rows.get(cell.key, {}), cell.column) for rows in one.rows)
    spreads = [
        Spread(side.seeds, side.deviation) for side in (old, new) if side.seeds > 1 and side.deviation is not None
    ]
    on_file = runs.spread(Place(one.paper, one.table, cell.key, cell.column))
    spread = max((s for s in spreads if not math.isnan(s.deviation)), key=lambda s: s.runs, default=on_file)
    size, said = abs(cell.judgement.difference), f"seeds vary by {spread.deviation:.2g}" if spread else ""
    within = spread is not None and size <= half_width(spread, 0.0, new.seeds, old.seeds).value
    said = f"within seed noise ({said})" if within else said
    return Move(within, size, [_where(one, cell), " -> ".join(_both(cell)), _difference(cell), said])


def _moved(one: Comparison) -> str:
    """Say what moved in one table: the verdicts of claims by name, which columns and how far, what one side lacks."""
    moved = one.moved()
    by_column = {name: [cell for cell in moved if cell.column == name] for name in quantities_of(one.rows[0].values())}
    verdicts = by_column.pop("verdict", []) if one.table == CLAIMS else []
    lists = [
        some([f"{' / '.join(cell.key)}: {' -> '.join(_both(cell))}" for cell in verdicts], "; ", CHANGED_CLAIMS),
        some([f"{name} {_far(cells)}" for name, cells in by_column.items() if cells], ", "),
    ]
    rows = _count(len({cell.key for cell in moved}), "row")
    said = f"{len(moved):,} of {_count(len(one.compared()), 'cell')} in {rows}: {'; '.join(filter(None, lists))}"
    return "; ".join([said] * bool(moved) + _parts([one], named=True))


def _far(cells: Sequence[Cell]) -> str:
    far = [abs(cell.judgement.difference) for cell in cells]
    is_measure = column(cells[0].column).kind == "measure" and not any(map(math.isnan, far))
    return f"by up to {max(far):.3g}" if is_measure else f"in {_count(len(cells), 'row')}"


def _parts(comparisons: Iterable[Comparison], named: bool = False) -> list[str]:
    """Count, and name some of, the rows, columns and tables that only one side has."""
    found: dict[tuple[str, Verdict], list[str]] = {}
    for part in (part for one in comparisons for part in one.parts):
        found.setdefault((part.kind, part.verdict), []).append(" / ".join(part.name))
    return [
        str(verdict) if named and kind == "table"
        else f"{_count(len(names), kind)} {verdict}" + f": {some(names, '; ', PARTS)}" * named
        for (kind, verdict), names in found.items()
    ]  # fmt: skip


def _costs(comparisons: Iterable[Comparison]) -> list[Section]:
    """Sum up the costs that both sides have."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in comparisons:
        for cell in one.cells:
            about = column(cell.column)
            if about.cost and about.better and not math.isnan(cell.judgement.difference) and float(cell.left):
                found.setdefault((_name(one), cell.column), []).append(float(cell.right) / float(cell.left))
    rows = [(*place, f"{min(ratios):.2f}", f"{max(ratios):.2f}") for place, ratios in found.items()]
    headings = ("table", "column", "new / old from", "to")
    return [Section(f"Costs, never judged: {_count(len(rows), 'column')}", headings, rows)] * bool(rows)


def to_text(told: Told, every_cell: bool = False) -> str:
    """Return it as plain text; of the rows of sections only their number, if not ``every_cell``."""
    lines = [*told.head]
    if told.moves.rows:
        lines += ["", told.moves.line, _indented(told.moves)]
    lines.append("")
    for section in told.sections:
        lines += [section.line] + [_indented(section)] * bool(every_cell and section.rows)
    if not every_cell and any(section.rows for section in told.sections):
        lines.append("(--all lists each cell)")
    return "\n".join(lines) + "\n"


def to_markdown(told: Told, limit: int = LIMIT) -> str:
    """Return it as Markdown of at most so many characters, sections folded; what is left out is counted."""
    lines = [f"- {_one_line(line, limit // 20)}" for line in told.head]
    if told.moves.rows:
        lines += ["", told.moves.line, "", *_table([""] * 4, told.moves.rows)]
    text = "\n".join(lines) + "\n"
    room, left_out = limit - 100, 0
    for place, section in enumerate(told.sections):
        share = (room - len(text)) // (len(told.sections) - place)
        folded = _folded(section, share)
        left_out += not folded
        text += folded
    return text + (f"\n{_count(left_out, 'section')} left out\n" if left_out else "")


def _folded(section: Section, share: int) -> str:
    """Return a section with as many of its rows as fit, and the number of the others; nothing where none fit."""
    line = _one_line(section.line, 1000)
    if not section.rows:
        text = f"\n{line}\n"
        return text if len(text) <= share else ""
    heading, rule, *rows = _table(section.headings, section.rows)
    begin, end = f"\n<details><summary>{line}</summary>\n\n{heading}\n{rule}\n", "\n</details>\n"
    more = "\n{} more left out\n"
    room = share - len(begin) - len(end) - len(more) - 10
    kept = sum(length <= room for length in accumulate(len(row) + 1 for row in rows))
    rest = more.format(_count(len(rows) - kept, "row")) if kept < len(rows) else ""
    return begin + "".join(f"{row}\n" for row in rows[:kept]) + rest + end if kept else ""


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, without blanks that fill columns."""
    lines = [headings, ["---"] * len(headings), *([_one_line(text, WIDEST) for text in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _one_line(text: str, most: int) -> str:
    text = " ".join(text.split())
    return escaped(text if len(text) <= most else f"{text[: most - 3]} ..")


def _indented(section: Section) -> str:
    text = tabulate(section.rows, headers=section.headings, tablefmt="plain", disable_numparse=True)
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def _name(one: Comparison) -> str:
    return one.name.removesuffix(".csv")


def _where(one: Comparison, cell: Cell) -> str:
    """Name a number as people read it, the dataset first."""
    about = dict(zip(one.keys, named(one.keys, cell.key)))
    about |= {key: one.titles[name] for key, name in zip(one.keys, cell.key) if key == "model" and name in one.titles}
    first = [about.pop("dataset")] if "dataset" in about else []
    others = [text if key in TITLES else f"{column(key).title.lower()} {text}" for key, text in about.items()]
    return ", ".join((*first, *others, column(cell.column).title))


def _cell(cell: Cell) -> list[str]:
    return [" / ".join(cell.key), cell.column, *_both(cell), _difference(cell)]


def _both(cell: Cell) -> tuple[str, str]:
    """Return both values in six digits or in as many more as tell them apart, at last as they stand in the files."""
    if math.isnan(cell.judgement.difference):
        return cell.left or "–", cell.right or "–"
    for digits in (6, 9, 12):
        left, right = (f"{float(text):.{digits}g}" for text in (cell.left, cell.right))
        if left != right or cell.left == cell.right:
            return left, right
    return cell.left, cell.right


def _difference(cell: Cell) -> str:
    return "" if math.isnan(cell.judgement.difference) else f"{cell.judgement.difference:+.3g}"


def _interval(cell: Cell) -> str:
    return "" if math.isnan(cell.judgement.interval) else f"± {cell.judgement.interval:.3g}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
