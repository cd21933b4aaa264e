# All that a run is asked for, and what of it is finished: for the page, `xmlc status` and the fact table.
from xmlc.sources import PACKAGE

TEMPLATES = [
    str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
    for file in sorted(PACKAGE.glob("page/templates/*"))
]


def finished(wildcards):
    """Tell which tables and figures are finished, and since when: the page is about these, whatever is configured.

    They are no inputs: the page never makes a table, which may have been made with other settings of --config.
    """
    files = [*Path("results/tables").glob("*/*.made-of.json"), *Path("results/figures").glob("*/*.svg")]
    return {str(file): file.stat().st_mtime_ns for file in sorted(files)}


def plan():
    """List, paper by paper, the tables and figures that are configured and the records that they are made of."""
    found = {}
    for paper, suite in SUITES.items():
        found[paper] = {
            "title": suite["title"],
            "asked": paper in config["papers"],
            "tables": {table: records_behind(paper, table) for table in suite["tables"]},
            "figures": {figure: records_behind_figure(paper, figure) for figure in suite["figures"]},
        }
    return found


def records_behind(paper, table):
    """List the files that a table is made of."""
    if paper == "scale":
        steps = [made for made, _ in scale_steps(paper)]
        return steps if table == "scale" else ranking_records(paper, SUITES[paper]["growth"])
    return table_records(paper, table)(paper)


def records_behind_figure(paper, figure):
    """List the files that a figure is made of."""
    return [SIMULATION] if (paper, figure) == ("gfm2011", "figure1") else figure_records(paper, figure)
