"""A table as files: CSV at full precision, Markdown and LaTeX as printed."""

from __future__ import annotations

import textwrap
from io import StringIO
from pathlib import Path

import pandas as pd

from xmlc.core.files import atomic_file
from xmlc.papers.tables.fingerprint import Fingerprint, of_table, read_table
from xmlc.papers.tables.table import Panel, Table

WIDTH = 110
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
}


def write_table(table: Table, prefix: Path) -> list[Path]:
    """Write PREFIX.csv, PREFIX.md and PREFIX.tex, each whole or not at all; return their paths."""
    texts = {".csv": to_csv(table), ".md": to_markdown(table), ".tex": to_latex(table)}
    files = []
    for suffix, text in texts.items():
        # Not with_suffix: a prefix may contain a dot.
        path = prefix.with_name(prefix.name + suffix)
        with atomic_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def to_csv(table: Table) -> str:
    """Return the measured values: every number with all its digits, a missing one empty."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def fingerprint_of(table: Table) -> Fingerprint:
    """Return the fingerprint of a table's CSV."""
    return of_table(read_table(StringIO(to_csv(table))))


def title_of(table: Table) -> str:
    """Return the table's name in print, such as ``Table 2``."""
    number = table.name.removeprefix("table")
    return f"Table {number}" if number.isdecimal() else table.name.capitalize()


def to_markdown(table: Table) -> str:
    """Return the printed table as Markdown that can also be read in a terminal."""
    parts = [_wrapped(f"**{title_of(table)}, {table.paper}.** {table.caption}")]
    for panel in table.panels:
        parts.append(panel_to_markdown(panel))
    notes = [*table.notes, f"Fingerprint of all numbers but costs: {fingerprint_of(table).word}"]
    parts.append("\n".join(_wrapped(f"- {note}", hanging="  ") for note in notes))
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, hanging: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def panel_to_markdown(panel: Panel) -> str:
    """Return one printed panel as Markdown, under its title if it has one."""
    cells = [[f"**{text}**" if bold else text for text, bold in line] for line in panel.cells()]
    frame = pd.DataFrame([[text.replace("|", r"\|") for text in line] for line in cells], columns=panel.headings())
    align = ["left"] * len(panel.keys) + ["right"] * (len(panel.headings()) - len(panel.keys))
    title = f"**{panel.title}**\n\n" if panel.title else ""
    return title + frame.to_markdown(index=False, disable_numparse=True, colalign=align)


def to_latex(table: Table) -> str:
    """Return the printed table as a LaTeX ``table`` for documents with the package booktabs."""
    lines = [
        f"% {title_of(table)} of {table.paper}; needs \\usepackage{{booktabs}}",
        f"% Fingerprint of all numbers but costs: {fingerprint_of(table).word}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.caption)}}}",
        rf"\label{{tab:{table.paper}-{table.name}}}",
    ]
    for panel in table.panels:
        lines += _latex_panel(panel)
    lines += [r"\par\raggedright\footnotesize", *(f"{latex(note)}\\\\" for note in table.notes), r"\end{table}"]
    return "\n".join(lines) + "\n"


def _latex_panel(panel: Panel) -> list[str]:
    headings = panel.headings()
    lines = [rf"\par\medskip {latex(panel.title)}\par\smallskip"] if panel.title else []
    lines.append(rf"\begin{{tabular}}{{{'l' * len(panel.keys)}{'r' * (len(headings) - len(panel.keys))}}}")
    lines += [r"\toprule", " & ".join(map(latex, headings)) + r" \\", r"\midrule"]
    for line in panel.cells():
        lines.append(" & ".join(rf"\textbf{{{latex(text)}}}" if bold else latex(text) for text, bold in line) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def latex(text: str) -> str:
    """Escape characters that LaTeX reads as commands."""
    return "".join(LATEX.get(character, character) for character in text)
