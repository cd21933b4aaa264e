"""Describe a comparison of tables in words, as text for a terminal and as Markdown for a pull request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from tabulate import tabulate

from xmlc.suite.config.folders import STUDY
from xmlc.suite.papers.claims import read_statements
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.panels import named
from xmlc.suite.papers.printing import escaped
from xmlc.suite.report.changes import changes_line
from xmlc.suite.report.compare import Comparison, published_lines
from xmlc.suite.report.verdicts import NO_CHANCE, NumberKind, difference
from xmlc.suite.report.words import count_of, some
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import Fingerprint
from xmlc.suite.results.frame import Number
from xmlc.suite.results.verdicts import Verdict

HEADLINES = ("p@1", "macro_f", "instance_f", "accuracy")  # Quantities that are the main results of the papers.
OF_A_STUDY = ("p@1", "macro_f_present", "instance_f", "accuracy")
MOVED = "dataset", "model", "quantity"  # The headings of the first columns in a table of changes.
NAMED = ("model", "method")  # Keys whose values are shown without the key's name.
MOVES, CHANGED_CLAIMS, PARTS = 10, 12, 4
LIMIT = 60_000  # The maximum number of characters of a summary. GitHub allows 65,536 characters in a comment.
SIDES = (Verdict.ABOVE, Verdict.BELOW)
WIDEST = 100  # The maximum number of characters in a cell of Markdown.


class Section(NamedTuple):
    """Hold a section of a summary: a line of text, and the table rows that the line sums up."""

    line: str
    headings: tuple[str, ...] = ()
    rows: Sequence[Sequence[str]] = ()


class Summary(NamedTuple):
    """Hold a comparison in words: the first lines, a section with the largest changes, and further sections."""

    head: list[str]
    moves: Section
    sections: list[Section]


def summary_of_runs(comparisons: Sequence[Comparison], old: Fingerprint, new: Fingerprint, title: str) -> Summary:
    """Return a summary of the numbers that changed between two of our runs."""
    moves = largest_moves(comparisons)
    lines = [[*_line(one, number), _interval(number, 2, "unknown")] for one, number in moves[:MOVES]]
    headings = ("row", "column", "old", "new", "difference", "verdict")
    sections = [
        Section(f"{_name(one)}: {_moved(one)}", headings, [[*_cell(cell), str(cell.verdict)] for cell in one.moved()])
        for one in comparisons
        if not one.same
    ]
    if equal := [_name(one) for one in comparisons if one.same]:
        sections.append(Section(f"Equal: {', '.join(equal)}"))
    words = f"Fingerprints differ: old {old.word}, new {new.word}"
    if old == new:
        words = f"Same fingerprint, {new.word}: all numbers except costs are equal"
    settings = (one.settings for one in comparisons if one.keys)
    differ = changes_line(settings, moved=any(one.moved() for one in comparisons))
    shown = *MOVED, "old", "new", "difference", "variation over seeds"
    largest = Section(
        "Largest moves of headline quantities. Moves within the variation over seeds come last:", shown, lines
    )
    return Summary(
        [*filter(None, [words, touched(comparisons), differ]), title], largest, [*sections, *_costs(comparisons)]
    )


def summary_of_published(comparisons: Sequence[Comparison], title: str) -> Summary:
    """Return a summary of how our numbers compare with papers' numbers, for each kind of number.

    Measured numbers come first.
    """
    numbers = [(one, number) for one in comparisons for number in one.judged()]
    outside = [
        (one, number)
        for one, number in numbers
        if number.kind is NumberKind.MEASURED and number.verdict in SIDES and not _is_certain(number)
    ]
    outside.sort(key=lambda pair: -abs(difference(pair[1]) / pair[1].interval))
    headings = ("table", "row", "column", "published", "measured", "difference", "interval")
    sections = []
    for kind in NumberKind:
        for verdict in Verdict:
            group = [(one, number) for one, number in numbers if (number.kind, number.verdict) == (kind, verdict)]
            rows = [[_name(one), *_cell(number), _interval(number)] for one, number in group]
            line = f"{kind}, {verdict}: {count_of(len(rows), 'cell')}"
            if kind is NumberKind.MEASURED and verdict in SIDES:
                line += _sizes([number for _, number in group if _is_certain(number)])
            sections += [Section(line, headings, rows)] if rows else []
    sections += [
        Section(f"{_name(one)}: {headline([one])}", ("not run",), [(" / ".join(part.name),) for part in one.parts])
        for one in comparisons
    ]
    farthest = [[*_line(one, number), _interval(number)] for one, number in outside[:MOVES]]
    shown = *MOVED, "published", "measured", "difference", "interval"
    moves = Section("Numbers farthest outside their intervals:", shown, farthest)
    return Summary([headline(comparisons), title], moves, [*sections, *_costs(comparisons)])


def _sizes(numbers: Iterable[Number]) -> str:
    """Return a text about numbers without chance variation: their count, and the range of their differences."""
    shares = [abs(100 * difference(one) / float(one.published)) for one in numbers if float(one.published)]
    if not shares:
        return ""
    by = f"{min(shares):.2g} to {max(shares):.2g} % of the published number"
    return f"; {count_of(len(shares), 'cell')} without chance variation, by {by}"


def _is_certain(number: Number) -> bool:
    """Return whether a number has no chance variation, so that its interval is only rounding."""
    return number.reason.startswith(NO_CHANCE)


def touched(comparisons: Sequence[Comparison]) -> str:
    """Return a text that counts the changed cells, rows and tables.

    Rows, columns and tables that only one of the two runs has are counted separately.
    """
    moved = [(one.name, number.key) for one in comparisons for number in one.moved()]
    every = sum(len(one.judged()) for one in comparisons)
    tables = count_of(len(comparisons), "table")
    said = f"None of the {every:,} cells in {tables} moved"
    if moved:
        of = f"{len({name for name, _ in moved})} of {tables}"
        said = f"{len(moved):,} of {count_of(every, 'cell')} moved, in {count_of(len(set(moved)), 'row')} of {of}"
    return "; ".join([said, *_parts(comparisons)])


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return a text that counts the verdicts on a paper's numbers. Numbers that the paper measured come first."""
    numbers = [number for one in comparisons for number in one.numbers]
    return "; ".join([*published_lines(numbers), *_parts(comparisons)])


def largest_moves(comparisons: Iterable[Comparison]) -> list[tuple[Comparison, Number]]:
    """Return the changed numbers of the quantities in `HEADLINES`, without repetitions. The largest changes come first.

    Changes within the noise over seeds come last.
    """
    found: dict[tuple[str, ...], tuple[Comparison, Number]] = {}
    for one in comparisons:
        for number in one.moved():
            if number.quantity in (OF_A_STUDY if one.paper == STUDY else HEADLINES) and _moves(number):
                what = number.dataset, number.model, number.quantity, number.published, number.value
                found.setdefault(what, (one, number))
    return sorted(found.values(), key=lambda pair: (abs(far := difference(pair[1])) <= pair[1].interval, -abs(far)))


def _moves(number: Number) -> bool:
    return math.isfinite(difference(number))


def _moved(one: Comparison) -> str:
    """Return a text with a table's changed verdicts and columns, and with rows or columns that only one run has."""
    by_column: dict[str, list[Number]] = {number.quantity: [] for number in one.numbers}
    for number in (moved := one.moved()):
        by_column[number.quantity].append(number)
    verdicts = by_column.pop("verdict", []) if one.table == CLAIMS else []
    lists = [
        some([f"{_said(one, cell)}: {' -> '.join(_both(cell))}" for cell in verdicts], "; ", CHANGED_CLAIMS),
        some([f"{name} {_far(cells)}" for name, cells in by_column.items() if cells], ", "),
    ]
    rows = count_of(len({number.key for number in moved}), "row")
    said = f"{len(moved):,} of {count_of(len(one.judged()), 'cell')} in {rows}: {'; '.join(filter(None, lists))}"
    return "; ".join([said] * bool(moved) + _parts([one], named=True))


def _said(one: Comparison, cell: Number) -> str:
    """Return the statement of a claim in words, or the claim's name if the paper does not state it any more."""
    (name,) = cell.key
    known = read_statements(one.paper)
    return known[name].statement.rstrip(".") if name in known else name


def _far(numbers: Sequence[Number]) -> str:
    far = [abs(difference(number)) for number in numbers]
    is_measure = column(numbers[0].quantity).kind == "measure" and not any(map(math.isnan, far))
    return f"by up to {max(far):.3g}" if is_measure else f"in {count_of(len(numbers), 'row')}"


def _parts(comparisons: Iterable[Comparison], named: bool = False) -> list[str]:
    """Return texts that count the rows, columns and tables that only one side has.

    If ``named`` is true, the texts also name some of the counted rows, columns and tables.
    """
    found: dict[tuple[str, Verdict], list[str]] = {}
    for part in (part for one in comparisons for part in one.parts):
        found.setdefault((part.kind, part.verdict), []).append(" / ".join(part.name))
    if not named:
        return [f"{count_of(len(names), kind)} {verdict}" for (kind, verdict), names in found.items()]
    return [
        str(verdict) if kind == "table" else f"{count_of(len(names), kind)} {verdict}: {some(names, '; ', PARTS)}"
        for (kind, verdict), names in found.items()
    ]


def _costs(comparisons: Iterable[Comparison]) -> list[Section]:
    """Return a list with a section about the costs that both runs have, or an empty list if there are no such costs."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in comparisons:
        for number in one.numbers:
            about = column(number.quantity)
            if not one.published and about.cost and about.better and _moves(number) and float(number.published):
                ratio = float(number.value) / float(number.published)
                found.setdefault((_name(one), number.quantity), []).append(ratio)
    rows = [(*place, f"{min(ratios):.2f}", f"{max(ratios):.2f}") for place, ratios in found.items()]
    headings = ("table", "column", "new / old from", "to")
    return [Section(f"Costs, never judged: {count_of(len(rows), 'column')}", headings, rows)] if rows else []


def summary_as_text(summary: Summary, every_cell: bool = False) -> str:
    """Return a summary as plain text. Table rows of sections are included only if ``every_cell`` is true."""
    lines = [*summary.head]
    if summary.moves.rows:
        lines += ["", summary.moves.line, _indented(summary.moves)]
    lines.append("")
    for section in summary.sections:
        lines += [section.line] + [_indented(section)] * bool(every_cell and section.rows)
    if not every_cell and any(section.rows for section in summary.sections):
        lines.append("(Use --all to list each cell)")
    return "\n".join(lines) + "\n"


def summary_as_markdown(summary: Summary, limit: int = LIMIT) -> str:
    """Return a summary as Markdown of at most ``limit`` characters, with folded sections.

    The text states how many rows and how many sections do not fit.
    """
    lines = [f"- {_one_line(line, limit // 20)}" for line in summary.head]
    if summary.moves.rows:
        lines += ["", summary.moves.line, "", *_table(summary.moves.headings, summary.moves.rows)]
    text = "\n".join(lines) + "\n"
    left_out = 0
    for place, section in enumerate(summary.sections):
        folded = _folded(section, (limit - 100 - len(text)) // (len(summary.sections) - place))
        left_out += not folded
        text += folded
    return text + (f"\n{count_of(left_out, 'section')} left out\n" if left_out else "")


def _folded(section: Section, share: int) -> str:
    """Return a folded section of at most ``share`` characters.

    If some rows do not fit, the last line states their number. The text is empty if no row fits.
    """
    line = _one_line(section.line, 1000)
    if not section.rows:
        return f"\n{line}\n" if len(line) + 2 <= share else ""
    heading, rule, *rows = _table(section.headings, section.rows)
    begin, end = f"\n<details><summary>{line}</summary>\n\n{heading}\n{rule}\n", "\n</details>\n"
    room = share - len(begin) - len(end) - 40  # A line that counts left-out rows has at most 40 characters.
    kept = sum(length <= room for length in accumulate(len(row) + 1 for row in rows))
    rest = f"\n{count_of(len(rows) - kept, 'row')} more left out\n" if kept < len(rows) else ""
    return begin + "".join(f"{row}\n" for row in rows[:kept]) + rest + end if kept else ""


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table. Columns are not padded, to save characters."""
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


def _line(one: Comparison, number: Number) -> list[str]:
    """Return the cells of a number: dataset, other keys, quantity, both values, and their difference."""
    about = dict(zip(one.keys, named(one.keys, number.key)))
    if number.model in one.titles:
        about["model"] = one.titles[number.model]
    dataset = about.pop("dataset", "")
    others = [text if key in NAMED else f"{column(key).title.lower()} {text}" for key, text in about.items()]
    return [dataset, ", ".join(others), column(number.quantity).title, *_both(number), _difference(number)]


def _cell(number: Number) -> list[str]:
    return [" / ".join(number.key), number.quantity, *_both(number), _difference(number)]


def _both(number: Number) -> tuple[str, str]:
    """Return the old and the new value with two decimals, or with more digits if the values would look equal."""
    if math.isnan(difference(number)):
        return number.published or "–", number.value or "–"
    for form in (".2f", ".6g", ".9g", ".12g"):
        left, right = (f"{float(text):{form}}" for text in (number.published, number.value))
        if left != right:
            return left, right
    return number.published, number.value


def _difference(number: Number) -> str:
    far = difference(number)
    return f"{far:+.{'2f' if abs(far) >= 0.005 else '2g'}}" if _moves(number) else ""


def _interval(number: Number, digits: int = 3, unknown: str = "") -> str:
    return unknown if math.isnan(number.interval) else f"± {number.interval:.{digits}g}"
