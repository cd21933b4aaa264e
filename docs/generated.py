"""Generate the pages of the reference that follow from the code and the configuration.

docs/conf.py writes the pages of `PAGES` into docs/generated/, and adds types and defaults to the
page of configuration keys. Nobody edits these pages, and Git ignores them.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

import xmlc.metrics
from xmlc.cli import GROUPS, group
from xmlc.metrics.measures import ALL_MEASURES
from xmlc.models.registry import LEARNERS, estimator_class
from xmlc.suite.config.catalogue import Dataset, load_catalogue
from xmlc.suite.config.settings import Settings, read_config
from xmlc.suite.config.suite import (
    Experiments,
    Inference,
    ModelSpec,
    SearchSpec,
    Sweep,
    read_suites,
)
from xmlc.suite.papers import table_of
from xmlc.suite.schemas import fields_of, read_yaml, wording

CONFIG = Path(__file__).parents[1] / "config"
PAPERS = read_config(CONFIG / "config.yaml")["papers"]
# The sections of config/README.md with keys, and the class that each section explains.
SECTIONS = {
    "`config.yaml`": Settings,
    "`papers/<paper>.yaml`": Experiments,
    "One model": ModelSpec,
    "A search": SearchSpec,
    "Inference": Inference,
    "Sweeps": Sweep,
    "`datasets.yaml`": Dataset,
}
OPEN = "not said"  # a choice that the paper leaves open
# The functions that compute measures at k, by the part of the measure's name before "@".
AT_K = {
    "p": "precision",
    "r": "recall",
    "psp": "psp",
    "max_p": "maximum_precision",
    "macro_f": "macro_f1",
}
AT_K |= {"macro_p": "macro_precision", "macro_r": "macro_recall"}

HEADS = {
    "commands": """# Commands

This page lists every command of `xmlc` with its options. `xmlc COMMAND --help` prints the same
text.
""",
    "hyperparameters": """# Hyperparameters

This page lists the values that each hyperparameter may have, and its default. [The
classes](../reference/models.md) explain the meaning. An estimator refuses other values with an
`InvalidParameterError`, which is a `ValueError`. Useful values lie in a narrower range
([Models](../models.md)).
""",
    "datasets": """# Datasets

This page lists the datasets of the [catalogue](../configuration.md#datasetsyaml). The key
`datasets` of a run takes these names. Training and test are published numbers of instances. A
source links to the homepage of its dataset. If no licence is listed, it is unknown. You can also
add [your own dataset](../extending.md#a-dataset).
""",
    "measures": """# Measures

This page lists the measures in records and tables of the workflow. A label has P positives, of
which TP are predicted, and y is the true label set of an instance. F2 is F_beta with beta = 2. An
instance without labels has an nDCG@k, P@k and recall of 0. [Metrics and
conventions](../package.md#metrics-and-conventions) compares such cases and ties with other
programs.
""",
    "statements": """# Claims of the papers

This page lists every claim that is tested on records. Only verbatim claims are counted. A case is
for a claim if the interval of its effect lies above the margin. The claim holds if more than half
of its cases are for it. [How a published number is judged](../claims.md#statements) has all rules.
""",
    "choices": """# The choices of the papers

This page lists every choice of the papers' experiments, and every setting in the file of a suite
that determines its results. Defaults of the estimators have an entry only if the paper states them.
*Not said* marks a choice that the paper leaves open, or an addition of xmlc. A setting is a key of
the named file, in which `*` stands for several models. A choice without a setting names the test
that shows it.

The value is that of the paper, or that of xmlc if the paper leaves the choice open. Tests compare
it with the configuration, unless the table says "see the file". The last column has what xmlc does
instead if it departs, and the reason for a departure or for an open choice.
[Departures](departures.md) lists the departures alone.
""",
    "departures": """# Where a suite departs from its paper

This page lists every choice that a paper states and its suite does not follow, and every statement
that is tested in another form than printed. You find all explicit choices of a paper in
`results/published/<paper>/choices.yaml`. Tests compare the configuration with these files.

[Choices](choices.md) also lists the choices that a suite follows, and those that a paper leaves
open. The [reference](../reference/models.md) has smaller differences of each model, and
[Results](../results.md) the datasets that were run. The lists of settings that `auto` tries were
selected by P@1 on validation parts of five small datasets. Two of the datasets are scene and enron,
so their validation parts were used twice.
""",
}


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()
) -> str:
    """Return a Markdown table without empty columns.

    ``right`` has the numbers of columns aligned to the right.
    """
    rows = list(rows)
    aligned = ["---"] * len(header)
    for i in right:
        aligned[i] = "---:"
    columns = [
        column for column in zip(header, aligned, *rows) if any(cell != "" for cell in column[2:])
    ]
    lines = []
    for row in zip(*columns):
        cells = [str(cell).replace("|", "\\|") for cell in row]
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def text(words: str) -> str:
    """Return words of a help text as Markdown, with options and placeholders as code."""
    code = re.compile(r"(`[^`]*`)|(--[a-z][\w-]+|[\w./-]*<[\w<>./*-]*[\w>/*])")
    return code.sub(lambda found: found[1] or f"`{found[2]}`", words)


def hyperparameters() -> Iterator[str]:
    """Yield the hyperparameters of all estimators, in the order of their arguments."""
    for name in LEARNERS:
        cls = estimator_class(name)
        declared = inspect.signature(cls).parameters.items()
        rows = [(f"`{key}`", cls.domains[key], f"`{one.default!r}`") for key, one in declared]
        yield f"## {name}: {cls.__name__}\n\n" + table(
            ("hyperparameter", "may be", "default"), rows
        )


def commands() -> Iterator[str]:
    """Yield all commands and options, in the groups of ``xmlc --help``."""
    for title, names in GROUPS.items():
        yield f"## {title}\n"
        for name in names:
            command = group.get_command(click.Context(group), name)
            context = click.Context(command, info_name=f"xmlc {name}")
            usage = (
                f"    {context.command_path} {' '.join(command.collect_usage_pieces(context))}\n"
            )
            yield from (f"### xmlc {name}\n", usage, text(inspect.cleandoc(command.help)) + "\n")
            rows = [
                options(one, context) for one in command.params if isinstance(one, click.Option)
            ]
            if rows:
                yield table(("option", "meaning", "default"), rows)
            if command.epilog:
                yield text(inspect.cleandoc(command.epilog)) + "\n"


def options(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    """Return the names with the kind of value, the meaning and the default of an option."""
    extra = option.get_help_extra(context)
    names = option.get_help_record(context)[0].replace(" RANGE", "").partition(" [")[0]
    meaning, _, default = option.help.removesuffix("]").partition("  [default: ")
    meaning = text(meaning) + (f" `{extra['range']}`" if "range" in extra else "")
    if isinstance(option.type, click.Choice) and not option.metavar:
        meaning += f" One of {', '.join(f'`{one}`' for one in option.type.choices)}."
    return f"`{names}`", meaning, extra.get("required") or text(extra.get("default", default))


def with_types(page: str) -> str:
    """Return config/README.md with the type and the default of each key in its tables.

    Raises
    ------
    ValueError
        A table lacks a key of the configuration, or has another key.
    """
    parts = re.split(r"^(?=##+ )", page, flags=re.MULTILINE)
    return "".join(
        _section(part, SECTIONS.get(part.partition("\n")[0].lstrip("# "))) for part in parts
    )


def _section(part: str, kind: type | None) -> str:
    if kind is None:
        return part
    fields = {
        key: about for key, about in fields_of(kind).items() if (kind, key) != (Dataset, "name")
    }
    meanings = dict(re.findall(r"^\| `([\w@]+)` \| (.*) \|\n", part, re.MULTILINE))
    if {*meanings} != {*fields}:
        raise ValueError(
            f"config/README.md: {kind.__name__}: found keys {[*meanings]}, expected {[*fields]}"
        )
    defaults = {one.name: one for one in dataclasses.fields(kind)}
    given = {}
    if kind is Settings:
        given = read_config(CONFIG / "config.yaml")

    def default(key: str) -> str:
        one = defaults[key]
        if one.default is not dataclasses.MISSING:
            value = one.default
        else:
            value = one.default_factory()
        if dataclasses.is_dataclass(value):
            value = {}
        else:
            value = given.get(key, value)
        if value is None:
            shown = "null"
        else:
            shown = str(value).replace("'", "")
        if shown:
            return f"`{shown.lower() if isinstance(value, bool) else shown}`"
        return ""

    rows = []
    for key, meaning in meanings.items():
        values, is_required = fields[key]
        words = re.sub(r"(keys with values), such as [\w-]+", r"\1", wording(values, None))
        rows.append(
            (
                f"`{key}`",
                words,
                "required" if is_required else default(key),
                meaning.replace("\\|", "|"),
            )
        )
    old = re.search(r"^\| key \|.*\n(?:\|.*\n)+", part, re.MULTILINE)
    return part.replace(old[0], table(("key", "value", "default", "meaning"), rows))


def datasets() -> Iterator[str]:
    """Yield the catalogue of datasets."""
    suites = read_suites(CONFIG)
    entries = load_catalogue(CONFIG / "datasets.yaml")

    def row(entry: Dataset) -> tuple[object, ...]:
        known = {**entry.known_shape, **(entry.synthetic or {})}
        known |= {
            short: known[long]
            for short, long in (("d", "n_features"), ("m", "n_labels"))
            if long in known
        }
        sizes = [
            f"{known[key]:,}" if key in known else "" for key in ("n_train", "n_test", "d", "m")
        ]
        source = ""
        if not entry.synthetic:
            source = source_of(entry)
        papers = [paper for paper in PAPERS if entry.name in suites[paper].datasets]
        return f"`{entry.name}`", *sizes, ", ".join(papers), source

    def rows(synthetic: bool, sized: bool = True) -> list[tuple[object, ...]]:
        of_kind = [row(one) for one in entries.values() if bool(one.synthetic) == synthetic]
        return [one for one in of_kind if any(one[1:5]) == sized]

    header = ("dataset", "training", "test", "features", "labels", "papers", "source")
    yield "## Datasets of papers and programs\n\n" + table(
        header, rows(synthetic=False), range(1, 5)
    )
    yield "## Datasets without published sizes\n\n" + table(
        header, rows(synthetic=False, sized=False)
    )
    yield "## Synthetic datasets\n\n`xmlc synth` generates these datasets.\n"
    yield table(header, rows(synthetic=True), range(1, 5))


def source_of(entry: Dataset) -> str:
    """Return the source of a dataset with a link to its homepage, and its licence if it is
    known.
    """
    if entry.homepage:
        source = f"[{entry.edition}]({entry.homepage})"
    else:
        source = entry.edition
    known, _, note = (entry.licence or "unknown").partition("unknown; see the homepage")
    if known not in ("", "unknown"):
        return f"{source}. Licence: {known}"
    if note.startswith(" ("):
        return source + note
    return source


def function_of(measure: str) -> str:
    """Return the name of the function in `xmlc.metrics` that computes a measure."""
    name, at, _ = measure.partition("@")
    known = [one for one in xmlc.metrics.__all__ if measure.replace("_f2", "_f").startswith(one)]
    if at:
        return f"{AT_K.get(name, name)}_at_k"
    return max(known, key=len, default="")


def measures() -> Iterator[str]:
    """Yield all measures, with the functions that compute them."""
    titles: dict[tuple[str, str], list[str]] = {}
    for one in ALL_MEASURES:
        title = re.sub("@.*", "@k", one.title)
        titles.setdefault((title, function_of(one.name)), []).append(f"`{one.name}`")
    rows = []
    first = {}
    for (title, name), names in titles.items():
        doc = "mean size of the label sets"
        if name:
            doc = inspect.getdoc(getattr(xmlc.metrics, name))
        definition = re.sub(r"^Return (the )?|\.?(\n.*)?$", "", doc, flags=re.DOTALL).replace(
            "``", "`"
        )
        if name in first:
            definition = f"as {first[name]}"
        first.setdefault(name, names[0])
        rows.append(
            (
                ", ".join(names),
                title,
                definition,
                f"{{py:func}}`~xmlc.metrics.{name}`" if name else "",
            )
        )
    yield table(("columns", "title", "definition", "function"), rows)


def statements() -> Iterator[str]:
    """Yield the claims of all papers."""
    suites = read_suites(CONFIG)
    for paper in PAPERS:
        rows = []
        for claim in table_of("claims", paper).claims:
            if claim.scale == "distance":
                above = f"within {abs(claim.level):g}"
            else:
                above = f"above {claim.level:g}"
            rule = f"{claim.unit}: {above}"
            if claim.because:
                rule += f" ({' '.join(claim.because.split())})"
            if claim.every:
                rule += ". One case against refutes it"
            if claim.cost:
                rule += ". A cost, not counted"
            rows.append(
                (f"{claim.statement} `{claim.name}`", f"{claim.stated}: {claim.source}", rule)
            )
        header = ("claim", "place", "measured effect and margin")
        yield f"## {paper}\n\n*{suites[paper].title}*\n\n{table(header, rows)}"


def entries_of(paper: str) -> dict[str, Any]:
    """Return the content of a paper's file of choices."""
    content: dict[str, Any] = read_yaml(CONFIG.parent / f"results/published/{paper}/choices.yaml")
    return content


def departs(choice: dict[str, Any]) -> bool:
    """Return whether a suite departs from a choice of its paper."""
    return "here" in choice and choice["printed"] != OPEN


def choices() -> Iterator[str]:
    """Yield all choices of the papers and of their suites, with the numbers of open choices and of
    departures.
    """
    header = ("choice", "printed", "setting or test", "value", "xmlc")
    for paper in PAPERS:
        entries = entries_of(paper)["choices"]
        n_open = sum(choice["printed"] == OPEN for choice in entries.values())
        n_departures = sum(map(departs, entries.values()))
        numbers = (
            f"The paper leaves {n_open} of them open, and the suite departs from {n_departures}."
        )
        yield f"## {paper}\n\nThe list has {len(entries)} choices. {numbers}\n"
        rows = [choice_row(paper, key, choice) for key, choice in entries.items()]
        yield linked(table(header, rows))


def choice_row(paper: str, key: str, choice: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a choice: its name, the paper's words, the setting or test, the value and
    the reason.
    """
    test = ""
    if "shown_by" in choice:
        test = f"`{choice['shown_by']}`"
    here = choice.get("here", "")
    reason = choice.get("reason", "")
    of_xmlc = reason
    if here:
        of_xmlc = f"{here}. Reason: {reason}"
    if "departs_on" in choice:
        of_xmlc = f"On {', '.join(choice['departs_on'])}: {of_xmlc}"
    return (
        f"`{key}`",
        f"{choice['printed']} ({choice['where']})",
        test or places_of(paper, choice),
        value_of(choice),
        of_xmlc,
    )


def places_of(paper: str, choice: dict[str, Any]) -> str:
    """Return the keys of a choice's settings, followed by their file."""
    settings = choice.get("setting", [])
    if isinstance(settings, str):
        settings = [settings]
    if not settings:
        return ""
    files = {"settings": "config/config.yaml", "splits": "config/datasets.yaml", "xmlc": ""}
    file = files.get(settings[0].split(".")[0], f"config/papers/{paper}.yaml")
    keys = ", ".join(f"`{setting.removeprefix('settings.')}`" for setting in settings)
    if file:
        return f"{keys} in `{file}`"
    return keys


def value_of(choice: dict[str, Any]) -> str:
    """Return the value of a choice's settings in words."""
    if "value" in choice:
        return f"`{json.dumps(choice['value'])}`"
    if "by_dataset" in choice:
        return ", ".join(
            f"{dataset}: `{json.dumps(value)}`" for dataset, value in choice["by_dataset"].items()
        )
    if "among" in choice:
        return f"one of {', '.join(map(str, choice['among']))}"
    if "between" in choice:
        return "{} to {}".format(*choice["between"])
    if "reaches" in choice:
        return f"up to {choice['reaches']} or more"
    if "includes" in choice:
        return f"contains {', '.join(map(str, choice['includes']))}"
    if "setting" in choice:
        return "see the file"
    return ""


def linked(words: str) -> str:
    """Return words with links to the files in results/ that they name."""
    return re.sub(r"`results/([\w./-]+)/([\w-]+\.csv)`", r"[`\2`](../../results/\1/\2)", words)


def departures() -> Iterator[str]:
    """Yield all choices of the papers that the suites do not follow."""
    for paper in PAPERS:
        content = entries_of(paper)
        rows = []
        for key, one in content["choices"].items():
            if not departs(one):
                continue
            name = f"`{key}`"
            if "departs_on" in one:
                name += f" on {', '.join(one['departs_on'])}"
            rows.append((name, f"{one['printed']} ({one['where']})", one["here"], one["reason"]))
        words = f"## {paper}\n\n{content.get('note', '')}\n\n" + table(
            ("choice", "printed", "here", "reason"), rows
        )
        yield linked(words)


def page_of(name: str) -> str:
    """Return a page: its head and the parts that the function of the same name yields."""
    return "\n".join((HEADS[name], *globals()[name]()))


PAGES = {name: partial(page_of, name) for name in HEADS}
