"""Print a table as CSV in full precision, or as rounded Markdown and LaTeX."""

from __future__ import annotations

import re
import textwrap

from tabulate import tabulate

from xmlc.suite.papers.tables import Panel, Table
from xmlc.suite.results.fingerprint import Fingerprint, of_table

WIDTH = 110
# Begin HTML, emphasis, code, cells, formulas, links, addresses or mentions in Markdown. `escaped`
# writes entities, which also work in HTML, and a zero-width space after @.
MARKS = re.compile(
    r"[<\\`*~|$]|&(?=#?\w+;)|(?<!\w)@(?=\w)|(?<=\w):(?=//)|\[(?=[^\]]*\]\s*[(\[:])|(?<!\w)_|_(?!\w)"
)
CODE = re.compile(r"(`[^`]+`)")
ENTITIES = {"<": "&lt;", "&": "&amp;", "@": "@&#8203;"}
LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\n": " ",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
}


def to_csv(table: Table) -> str:
    """Return a table's numbers with all digits, and empty cells for missing ones."""
    return table.content.to_csv(index=False, lineterminator="\n")


def fingerprint_of(table: Table) -> Fingerprint:
    """Return the fingerprint of a table's CSV file."""
    return of_table(table.content)


def title_of(table: Table) -> str:
    """Return the printed name of a table, such as ``Table 2``."""
    number = table.spec.name.removeprefix("table")
    if number.isdecimal():
        return f"Table {number}"
    return table.spec.name.capitalize()


def escaped(text: str, code: bool = False) -> str:
    """Return Markdown that shows a text unchanged on one line, in backticks for ``code``."""
    text = " ".join(text.split())
    parts = [text]
    if code:
        parts = CODE.split(text)
    for place in range(0, len(parts), 2):
        parts[place] = MARKS.sub(
            lambda found: ENTITIES.get(found[0], f"&#{ord(found[0])};"), parts[place]
        )
    return "".join(parts)


def wrapped(text: str, hanging: str = "") -> str:
    """Return a text in lines of at most `WIDTH` characters."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )


def to_markdown(table: Table) -> str:
    """Return a table as Markdown that is also readable in a terminal."""
    title = wrapped(
        f"**{title_of(table)}, {table.paper}.** {escaped(table.spec.caption, code=True)}"
    )
    notes = [*table.notes, f"Fingerprint of all numbers but costs: {fingerprint_of(table).word}"]
    lines = "\n".join(wrapped(f"- {escaped(note, code=True)}", hanging="  ") for note in notes)
    return "\n\n".join([title, *map(panel_to_markdown, table.panels), lines]) + "\n"


def panel_to_markdown(panel: Panel) -> str:
    """Return one panel as Markdown."""
    headings, rows = panel.printed()
    cells = []
    for row in rows:
        cells.append([_emphasised("**{}**", escaped(text), bold) for text, bold in row])
    align = ["left"] * len(panel.names) + ["right"] * (len(headings) - len(panel.names))
    parts = [tabulate(cells, map(escaped, headings), "pipe", disable_numparse=True, colalign=align)]
    if panel.title:
        parts.insert(0, f"**{escaped(panel.title)}**")
    return "\n\n".join(parts)


def _emphasised(style: str, text: str, bold: bool) -> str:
    if bold:
        return style.format(text)
    return text


def to_latex(table: Table) -> str:
    """Return all panels as LaTeX for the package booktabs, with notes as comments."""
    lines = [
        f"% {title_of(table)} of {table.paper}, needs \\usepackage{{booktabs}}",
        f"% Fingerprint of all numbers but costs: {fingerprint_of(table).word}",
    ]
    for place, panel in enumerate(table.panels, start=1):
        lines += ["", panel_to_latex(table, panel, place)]
    comments = [f"% {' '.join(note.split())}" for note in table.notes]
    return "\n".join([*lines, "", *comments]) + "\n"


def panel_to_latex(table: Table, panel: Panel, place: int) -> str:
    """Return a LaTeX float over both columns of an article."""
    sentences = [panel.title.rstrip(".")]
    if place == 1:
        sentences.append(table.spec.caption)
    caption = ". ".join(filter(None, sentences)) or title_of(table)
    headings, rows = panel.printed()
    sides = "l" * len(panel.names) + "r" * (len(headings) - len(panel.names))
    lines = [
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{2pt}",
        rf"\caption{{{latex(caption)}}}",
        rf"\label{{tab:{table.paper}-{table.spec.name}-{place}}}",
        rf"\begin{{tabular}}{{@{{}}{sides}@{{}}}}",
        r"\toprule",
        " & ".join(map(latex, headings)) + r" \tabularnewline",
        r"\midrule",
    ]
    for row in rows:
        cells = [_emphasised(r"\textbf{{{}}}", latex(text), bold) for text, bold in row]
        # LaTeX would read a bracket as an argument of the command before it.
        cells[0] = re.sub(r"^\[", "{[}", cells[0])
        lines.append(" & ".join(cells) + r" \tabularnewline")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}"])


def latex(text: str) -> str:
    """Escape characters that LaTeX reads as commands."""
    return "".join(LATEX.get(character, character) for character in text)
