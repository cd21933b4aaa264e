"""Render the page as one HTML file, which contains its style sheet and script and loads no other files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from xmlc import __version__
from xmlc.suite.papers.claims_table import FITTED, claims_line
from xmlc.suite.papers.outcome import Word
from xmlc.suite.report.compare import count_outcomes, published_lines
from xmlc.suite.report.page import tables
from xmlc.suite.report.page.content import CONTRIBUTED, Page
from xmlc.suite.report.verdicts import OUTCOMES, Verdict, as_float
from xmlc.suite.results.titles import LIMITS, method_title, model_title

ROOM = "xmlc.suite.report.page"
# Maps each verdict to its sign, its class in the style sheet, and its meaning.
SIGNS = {
    Verdict.AS_PRINTED: ("=", "good", "equal as printed: equal to the published number if rounded to its digits"),
    Verdict.INSIDE: ("≈", "good", "inside the interval of this cell"),
    Verdict.ABOVE: ("↑", "outside", "outside the interval of this cell, above the published number"),
    Verdict.BELOW: ("↓", "outside", "outside the interval of this cell, below the published number"),
    Verdict.DIFFERENT: ("≠", "outside", "different: neither rounding nor chance explains the difference"),
    Verdict.UNDECIDED: ("?", "unsure", "undecided: this cell has no interval, or a very wide one"),
    Verdict.EQUAL: ("=", "equal", "a number without randomness, equal in the published digits"),
    Verdict.NOT_RUN: ("–", "notrun", "not run"),
    Verdict.FAILED: ("✕", "failed", "failed"),
}
HEADINGS = {"fitted": "fitted to published results"}  # Headings of columns that differ from the names of the outcomes.
# Maps the first words of the verdict on a claim to the class of the verdict in the style sheet.
WORDS: dict[Word, str] = {
    "holds": "good",
    "does not hold": "outside",
    "opposite sign": "unsure",
    "mixed": "unsure",
    "undecided": "notrun",
    "no data": "notrun",
}


def to_html(page: Page) -> str:
    """Return the page as HTML.

    All values are escaped. The security policy of the page forbids browsers to load other files. Drawings are embedded
    as images, because browsers run no scripts inside images.
    """
    environment = Environment(
        loader=PackageLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"text": tables.text_on_page, "order": tables.order_on_page, "method_title": method_title}
    environment.filters |= {"difference": tables.difference_on_page, "interval": tables.interval_on_page}
    environment.filters["contributors"] = tables.contributors
    environment.tests["without_value"] = lambda number: as_float(number.value) is None
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals |= {"signs": SIGNS, "words": WORDS, "headings": HEADINGS, "claims_line": claims_line}
    environment.globals |= {"outcome_of": count_outcomes, "published_lines": published_lines, "version": __version__}
    environment.globals |= {"fitted_settings": FITTED, "contributed": CONTRIBUTED, "limits": map(model_title, LIMITS)}
    environments, script = page.environments.shown, Markup(_template("report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html.j2").render(
        page=page,
        classes={str(verdict): kind for verdict, (_, kind, _) in SIGNS.items() if verdict in OUTCOMES},
        origins=", ".join(sorted({environment["origin"] for environment in environments} - {""})),
        class_of_word=lambda text: next((kind for word, kind in WORDS.items() if text.startswith(word)), ""),
        style=Markup(_template("report.css")),
        environment_numbers=page.environments.numbers,
        environments=packed(environments),
        script=script,
        digest=digest,
    )


def packed(environments: Sequence[tables.ShownEnvironment]) -> dict[str, list[Any]]:
    """Return environment metadata as lists of indices into one list of texts, because many records share most texts.

    The first index of a record refers to the record's title. The last index refers to the command that rebuilds the
    record, without the record's path.
    """
    texts: dict[str, int] = {}
    lists = []
    for one in environments:
        command = one["command"].removesuffix(dict(one["lines"])["record"])
        parts = [one["title"], *(f"{name}: {text}" for name, text in one["lines"]), command]
        lists.append([texts.setdefault(part, len(texts)) for part in parts])
    return {"texts": list(texts), "environments": lists}


def _template(name: str) -> str:
    return files(ROOM).joinpath("templates", name).read_text(encoding="utf-8")
