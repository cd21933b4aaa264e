"""Build tables from hand-made records."""

from report_cases import write
from suite_cases import write_suite

from xmlc.suite.papers.building import build_table
from xmlc.suite.results.manifest import Manifest


def build_from(folder, name, paper, records, published=None, models=None, **suite):
    """Return a table built from records in a folder.

    ``published`` has the paper's printed tables as CSV, by name. ``models`` and ``suite`` are the
    content of a suite's YAML file. The YAML file is only written if there are models.
    """
    for printed, text in (published or {}).items():
        file = folder / "published" / paper / f"{printed}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    yaml = write_suite(folder / "suite.yaml", models, **suite) if models else None
    paths = write(folder / "records", records)
    return build_table(
        Manifest(name, paper, tuple(paths), folder / "published" if published else None, yaml)
    )


def texts(panel):
    """Return the printed texts of a panel, row by row."""
    found = []
    for line in lines(panel):
        found.append([text for text, _ in line])
    return found


def headings(panel):
    """Return the printed headings of a panel."""
    return panel.printed()[0]


def lines(panel):
    """Return the printed cells of a panel, row by row, each as its text and whether it is bold."""
    return panel.printed()[1]
