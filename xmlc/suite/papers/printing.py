"""Print a table as CSV in full precision, or as Markdown in the printed precision. Select parts of a table."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection
from dataclasses import replace

from tabulate import tabulate

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import Panel
from xmlc.suite.results.fingerprint import Fingerprint, of_table
from xmlc.suite.results.frame import Key

WIDTH = 110
# In Markdown, these characters begin HTML, emphasis, code, cells, formulas, links, addresses or mentions of users.
# `escaped` replaces the characters by entities, which also work in HTML within Markdown. A zero-width space after @
# prevents mentions of users.
MARKS = re.compile(r"[<\\`*~|$]|&(?=#?\w+;)|(?<!\w)@(?=\w)|(?<=\w):(?=//)|\[(?=[^\]]*\]\s*[(\[:])|(?<!\w)_|_(?!\w)")
CODE = re.compile(r"(`[^`]+`)")
ENTITIES = {"<": "&lt;", "&": "&amp;", "@": "@&#8203;"}


def escaped(text: str, code: bool = False) -> str:
    """Return Markdown that shows a text unchanged and on one line. With ``code``, text in backticks stays code."""
    parts = CODE.split(" ".join(text.split())) if code else [" ".join(text.split())]
    parts[::2] = [MARKS.sub(lambda found: ENTITIES.get(found[0], f"&#{ord(found[0])};"), part) for part in parts[::2]]
    return "".join(parts)


def to_csv(table: Table) -> str:
    """Return the numbers of a table as CSV with all digits. Cells of missing numbers are empty."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def fingerprint_of(table: Table) -> Fingerprint:
    """Return the fingerprint of a table's CSV file."""
    return of_table(table.frame)


def title_of(table: Table) -> str:
    """Return the printed name of a table, such as ``Table 2``."""
    number = table.name.removeprefix("table")
    return f"Table {number}" if number.isdecimal() else table.name.capitalize()


def to_markdown(table: Table) -> str:
    """Return a table as Markdown that is also readable in a terminal."""
    title = _wrapped(f"**{title_of(table)}, {table.paper}.** {escaped(table.caption, code=True)}")
    notes = [*table.notes, f"Fingerprint of all numbers but costs: {fingerprint_of(table).word}"]
    lines = "\n".join(_wrapped(f"- {escaped(note, code=True)}", hanging="  ") for note in notes)
    return "\n\n".join([title, *map(panel_to_markdown, table.panels), lines]) + "\n"


def _wrapped(text: str, hanging: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def panel_to_markdown(panel: Panel) -> str:
    """Return one panel as Markdown: its title, the table, and its note."""
    panel = panel.compact()
    cells = [[f"**{escaped(text)}**" if bold else escaped(text) for text, bold in line] for line in panel.cells()]
    headings = list(map(escaped, panel.headings()))
    align = ["left"] * len(panel.names) + ["right"] * (len(headings) - len(panel.names))
    title = f"**{escaped(panel.title)}**\n\n" if panel.title else ""
    printed = tabulate(cells, headings, "pipe", disable_numparse=True, colalign=align)
    return title + printed + f"\n\n{_wrapped(escaped(panel.note))}" * bool(panel.note)


def select(
    table: Table,
    datasets: Collection[str] = (),
    models: Collection[str] = (),
    methods: Collection[str] = (),
    columns: Collection[str] = (),
    panel: int | None = None,
) -> Table:
    """Return a part of a table. Empty arguments select everything.

    Parameters
    ----------
    table : Table
    datasets, models, methods : collection of str
        Names of the datasets, models and methods to keep. In a panel with a column for each method, only the columns of
        ``methods`` are kept.
    columns : collection of str
        Quantities to keep, by their names in the CSV file.
    panel : int or None
        Number of the only panel to keep, counted from 1.

    Raises
    ------
    XmlcError
        The selection contains no numbers.
    """
    wanted = {"dataset": datasets, "model": models, "method": methods}

    def is_wanted(key: Key) -> bool:
        about = dict(zip(table.keys, map(str, key)))
        return all(not names or about.get(name, "") in names for name, names in wanted.items() if name in table.keys)

    panels = [_selected(one, is_wanted, columns) for one in table.panels]
    left = [one for place, one in enumerate(panels, start=1) if panel in (None, place) and one.rows and one.columns]
    if not left:
        values = {name: dict.fromkeys(key[place] for key in table.rows) for place, name in enumerate(table.keys)}
        known = [f"{name}s {', '.join(found)}" for name, found in values.items() if name in wanted]
        about = [f"{len(panels)} panels", *known, f"columns {', '.join(table.columns)}"]
        chosen = {"datasets": datasets, "models": models, "methods": methods, "columns": columns}
        asked_for = [f"{option} {', '.join(names)}" for option, names in chosen.items() if names]
        if panel is not None:
            asked_for.append(f"panel {panel}")
        raise XmlcError(
            f"{title_of(table)} of {table.paper}: found no number of {' and '.join(asked_for)}, "
            f"expected {'; '.join(about)}"
        )
    rows = {key: row for key, row in table.rows.items() if is_wanted(key)}
    kept = tuple(name for name in table.columns if not columns or name in columns)
    return replace(table, panels=left, rows=rows, columns=kept)


def _selected(panel: Panel, is_wanted: Callable[[Key], bool], columns: Collection[str]) -> Panel:
    parts = [part for part in panel.columns if not columns or part.quantity in columns]
    rows = [i for i in range(len(panel.rows)) if any(is_wanted(part.numbers[i].key) for part in parts)]
    parts = [part for part in parts if any(is_wanted(part.numbers[i].key) for i in rows)]
    kept = [replace(part, numbers=[part.numbers[i] for i in rows]) for part in parts]
    return replace(panel, rows=[panel.rows[i] for i in rows], columns=kept)
