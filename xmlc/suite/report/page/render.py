"""Render the report as HTML pages. Each page contains its style sheet and script and loads no other files."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from xmlc import __version__
from xmlc.suite.papers.claims_table import FITTED
from xmlc.suite.report.compare import count_outcomes, published_lines
from xmlc.suite.report.page.content import Report
from xmlc.suite.report.verdicts import NumberKind
from xmlc.suite.results.titles import LIMITS, model_title
from xmlc.suite.results.verdicts import ClaimVerdict, Verdict

ROOM = "xmlc.suite.report.page"
COLUMNS = 10  # The largest number of columns that a table shows until the reader asks for more.
# The classes of verdicts in the style sheet. The words of the page are the verdicts themselves.
CLASSES = {
    Verdict.EQUAL: "equal",
    Verdict.INSIDE: "inside",
    Verdict.ABOVE: "outside",
    Verdict.BELOW: "outside",
    Verdict.UNDECIDED: "unsure",
    Verdict.NOT_RUN: "notrun",
}
CLAIMS = {
    ClaimVerdict.HOLDS: "inside",
    ClaimVerdict.DOES_NOT_HOLD: "outside",
    ClaimVerdict.UNDECIDED: "unsure",
    ClaimVerdict.NOT_RUN: "notrun",
}


def pages_of(report: Report) -> dict[str, str]:
    """Return the text of each file of the report by its path in the report's folder.

    The last file is the page index.html.

    All values are escaped. The security policy of a page forbids browsers to load other files. Drawings are embedded
    as images, because browsers run no scripts inside images.
    """
    environment = Environment(
        loader=PackageLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"bar": bar_of, "not_run": not_run}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    script = Markup(_template("report.js"))
    environment.globals |= {"classes": CLASSES, "claim_words": CLAIMS, "columns": COLUMNS}
    environment.globals |= {"fitted_settings": FITTED}
    environment.globals["limits"] = [*map(model_title, LIMITS)]
    environment.globals |= {"published_lines": published_lines, "outcome_of": count_outcomes, "version": __version__}
    environment.globals |= {"style": Markup(_template("report.css")), "script": script}
    environment.globals["digest"] = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals["class_of_word"] = lambda text: next((CLAIMS[w] for w in CLAIMS if text.startswith(w)), "")
    found = {one.file: one.csv for paper in report.papers for one in paper.tables}
    page = environment.get_template("paper.html.j2")
    found |= {f"{one.name}.html": page.render(report=report, page=one) for one in report.papers}
    return found | {"index.html": environment.get_template("index.html.j2").render(report=report, page=report)}


def bar_of(judged: pd.DataFrame) -> dict[Verdict, int]:
    """Count the numbers that a paper measured itself, for each verdict."""
    if judged.empty:
        return {}
    counts = judged.loc[judged["kind"] == NumberKind.MEASURED, "verdict"].value_counts()
    return {verdict: int(counts[verdict]) for verdict in CLASSES if verdict in counts}


def not_run(judged: pd.DataFrame) -> list[str]:
    """Return the datasets on which a paper measured numbers itself, but none was run, sorted by name."""
    measured = judged[(judged["kind"] == NumberKind.MEASURED) & (judged["verdict"] != "")]
    run = measured.loc[measured["verdict"] != Verdict.NOT_RUN, "dataset"]
    return sorted({*measured["dataset"]} - {*run})


def _template(name: str) -> str:
    return files(ROOM).joinpath("templates", name).read_text(encoding="utf-8")
