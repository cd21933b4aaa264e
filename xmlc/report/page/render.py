"""The page as HTML: one file with its style and script in it, which loads nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from xmlc import __version__
from xmlc.papers.claims import Word, claims_line
from xmlc.report.page.content import CONTRIBUTED, Page
from xmlc.report.verdict import OUTCOMES, Verdict

ROOM = "xmlc.report.page"
CALIBRATED = "‡"  # behind numbers whose settings were chosen on the printed test results
# A verdict's sign, its class in the style sheet, and what it means.
SIGNS = {
    Verdict.INSIDE: ("≈", "good", "inside the interval of this cell"),
    Verdict.ABOVE: ("↑", "outside", "outside the interval of this cell, above the printed number"),
    Verdict.BELOW: ("↓", "outside", "outside the interval of this cell, below the printed number"),
    Verdict.UNDECIDED: ("?", "unsure", "undecided: this cell has no interval, or one too wide to tell anything"),
    Verdict.EQUAL: ("=", "equal", "equal at the printed precision"),
    Verdict.DIFFERENT: ("≠", "outside", "different"),
    Verdict.NOT_RUN: ("–", "notrun", "not run"),
    Verdict.FAILED: ("✕", "failed", "failed"),
    Verdict.MISSING: ("–", "notrun", "missing"),
    Verdict.NEW: ("+", "notrun", "new"),
    Verdict.OTHER_DATA: ("–", "notrun", "of other or unknown data, not compared"),
}
# Of a claim's verdict, by how it begins.
WORDS: dict[Word, str] = {
    "holds": "good",
    "does not hold": "outside",
    "mixed": "unsure",
    "cannot be told": "notrun",
    "no data": "notrun",
}


def to_html(page: Page) -> str:
    """Return the page; every value in it is escaped, and its policy lets a browser load nothing else.

    Of the drawings, which are markup themselves, `xmlc.report.page.content.inline` has left nothing but shapes.
    """
    environment = Environment(
        loader=PackageLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    script = Markup(_template("report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html.j2").render(
        page=page,
        signs=SIGNS,
        classes={str(verdict): kind for verdict, (_, kind, _) in SIGNS.items() if verdict in OUTCOMES},
        legend=(*OUTCOMES, Verdict.EQUAL, Verdict.DIFFERENT, Verdict.NOT_RUN, Verdict.FAILED),
        calibrated=CALIBRATED,
        contributed=CONTRIBUTED,
        origins=", ".join(sorted({passport["origin"] for passport in page.passports} - {""})),
        words=WORDS,
        class_of_word=lambda text: next((kind for word, kind in WORDS.items() if text.startswith(word)), ""),
        claims_line=claims_line,
        style=Markup(_template("report.css")),
        script=script,
        digest=digest,
        version=__version__,
    )


def _template(name: str) -> str:
    return files(ROOM).joinpath("templates", name).read_text(encoding="utf-8")
