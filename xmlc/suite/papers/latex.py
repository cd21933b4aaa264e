"""Print tables in LaTeX. Each panel is a float that fits one or both columns of a two-column article."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import GAP, Panel
from xmlc.suite.papers.printing import fingerprint_of, title_of

COLUMN, PAGE = 241.0, 487.0  # Widths in pt of one column of the article and of its page.
SEPARATION = 4.0  # Space in pt between two columns of a table: twice \tabcolsep.
LINES = 52  # Largest number of table lines on a page with a caption.
PARAGRAPH, NARROWEST = 110.0, 55.0  # Texts in columns wider than 110 pt may be broken into lines of at least 55 pt.
# Widths in pt of characters at footnote size (8 pt Computer Modern), measured with pdflatex and rounded up.
WIDTHS = {character: width for width, characters in (
    (2.4, "!',.:;[]`il|"), (2.6, "fj"), (2.9, " -"), (3.1, "I"), (3.4, "()rst"), (3.8, "cez"), (4.1, "?"), (4.3, "J"),
    (4.3, '"$*/0123456789\\ago{}–'), (4.5, "kqvxy"), (4.8, "Sbdhnpu"), (5.2, "Z^~"), (5.4, "L"), (5.8, "EFP"),
    (6.2, "BCTw"), (6.5, "RAHNUVXYD"), (7.1, "&+<=>@GKOQ_±−×#%m"), (7.8, "M"), (8.8, "W"),
) for character in characters}  # fmt: skip
OTHER, BOLD = 6.5, 1.17
ESCAPED = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    GAP: r"\enspace{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
}


@dataclass(frozen=True)
class PrintedColumn:
    """Hold one column: the lines of its heading, and its cells. Each cell has a text and a flag for bold.

    ``names`` is true if the column contains the names of rows. ``width`` is in pt.
    """

    heading: list[str]
    cells: list[tuple[str, bool]]
    names: bool
    width: float


def to_latex(table: Table) -> str:
    """Return all panels of a table as LaTeX, which needs the package booktabs. Notes become LaTeX comments."""
    lines = [
        f"% {title_of(table)} of {table.paper}, needs \\usepackage{{booktabs}}",
        f"% Fingerprint of all numbers but costs: {fingerprint_of(table).word}",
    ]
    for place, panel in enumerate(table.panels, start=1):
        lines += ["", panel_to_latex(table, panel, place)]
    return "\n".join([*lines, "", *(f"% {note}" for note in table.notes)]) + "\n"


def panel_to_latex(table: Table, panel: Panel, place: int) -> str:
    """Return the panel at ``place`` in its table as LaTeX. Panels larger than a page become several floats."""
    floats: list[str] = []
    panel = panel.compact()
    caption = ". ".join(
        filter(None, (panel.title.rstrip("."), panel.note.rstrip("."), table.caption if place == 1 else ""))
    )
    label = f"tab:{table.paper}-{table.name}-{place}"
    begun = [rf"\caption{{{latex(caption or title_of(table))}}}", rf"\label{{{label}}}"]
    for columns in _parts([*_columns(panel)]):
        environment, room = ("table", COLUMN) if _width(columns) <= COLUMN else ("table*", PAGE)
        broken = _broken_columns(columns, room)
        for rows in _pages(columns, broken):
            floats += [
                rf"\begin{{{environment}}}",
                r"\centering\footnotesize\setlength{\tabcolsep}{2pt}",
                *(begun if not floats else [rf"Table~\ref{{{label}}}, continued\par\smallskip"]),
                *_tabular(columns, broken, rows),
                rf"\end{{{environment}}}",
            ]
    return "\n".join(floats)


def _columns(panel: Panel) -> Iterator[PrintedColumn]:
    lines = panel.cells()
    for place, heading in enumerate(panel.headings()):
        cells = [line[place] for line in lines]
        widest = max((_text_width(text, bold) for text, bold in cells), default=0.0)
        printed = _broken(heading, widest)
        yield PrintedColumn(printed, cells, place < len(panel.names), max(widest, *map(_text_width, printed)))


def _broken(heading: str, widest: float) -> list[str]:
    """Return the lines of a heading. A heading wider than ``widest`` is broken into two lines of similar width."""
    words = heading.split()
    if len(words) < 2 or _text_width(heading) <= widest:
        return [heading]
    halves = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    return list(min(halves, key=lambda half: max(map(_text_width, half))))


def _text_width(text: str, bold: bool = False) -> float:
    return math.fsum(WIDTHS.get(c, OTHER) * (BOLD if bold and c.isalnum() else 1) for c in text)


def _least(column: PrintedColumn) -> float:
    """Return the least width of a column. Long texts can be broken into lines, but only between words."""
    if column.width <= PARAGRAPH:
        return column.width
    words = [word for text, _ in column.cells for word in text.replace("/", "/ ").replace("-", "- ").split()]
    return max(NARROWEST, *map(_text_width, words))


def _width(columns: list[PrintedColumn]) -> float:
    return math.fsum(column.width for column in columns) + SEPARATION * (len(columns) - 1)


def _parts(columns: list[PrintedColumn]) -> Iterator[list[PrintedColumn]]:
    """Divide the columns into parts that fit on a page. Each part begins with the columns of row names."""
    names = [column for column in columns if column.names]
    part = list(names)
    for column in columns[len(names) :]:
        fits = math.fsum(map(_least, [*part, column])) + SEPARATION * len(part) <= PAGE
        if not fits and len(part) > len(names):
            yield part
            part = list(names)
        part.append(column)
    yield part


def _broken_columns(columns: list[PrintedColumn], room: float) -> dict[int, float]:
    """Return a dict from column index to width, for the columns whose texts are broken into lines."""
    missing = _width(columns) - room
    spare = math.fsum(column.width - _least(column) for column in columns)
    if missing <= 0 or not spare:
        return {}
    share = min(missing / spare, 1)
    return {
        place: column.width - share * (column.width - _least(column))
        for place, column in enumerate(columns)
        if column.width > PARAGRAPH
    }


def _pages(columns: list[PrintedColumn], broken: dict[int, float]) -> Iterator[range]:
    """Divide the rows into parts that fit on a page."""
    start = lines = 0
    n = len(columns[0].cells)
    for row in range(n):
        texts = ((columns[place].cells[row], width) for place, width in broken.items())
        height = max((1 + int(1.15 * _text_width(*cell) / width) for cell, width in texts), default=1)
        if lines + height > LINES and row > start:
            yield range(start, row)
            start, lines = row, 0
        lines += height
    yield range(start, n)


def _tabular(columns: list[PrintedColumn], broken: dict[int, float], rows: range) -> list[str]:
    kinds = [
        f"p{{{broken[place]:.0f}pt}}" if place in broken else "l" if column.names else "r"
        for place, column in enumerate(columns)
    ]
    cells = [[_cell(*column.cells[i], place in broken) for place, column in enumerate(columns)] for i in rows]
    heading, *lines = (" & ".join(row) + r" \tabularnewline" for row in (map(_heading, columns), *cells))
    begin = rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
    return [begin, r"\toprule", heading, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]


def _cell(text: str, bold: bool, broken: bool) -> str:
    printed = rf"\textbf{{{latex(text)}}}" if bold else latex(text)
    return r"\raggedright " + printed.replace("/", r"/\allowbreak ") if broken else printed


def _heading(column: PrintedColumn) -> str:
    if len(column.heading) == 1:
        return latex(column.heading[0])
    side = "l" if column.names else "r"
    above, below = map(latex, column.heading)
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{above}\\{below}\end{{tabular}}"


def latex(text: str) -> str:
    """Escape characters that LaTeX reads as commands."""
    return "".join(ESCAPED.get(character, character) for character in text)
