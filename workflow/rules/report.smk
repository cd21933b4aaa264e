# What people look at: the page, and the fact table behind it.
from xmlc.files import write_json


rule report:
    input:
        "results/report.html",
        "results/results.csv",
    localrule: True


rule report_page:
    input:
        sources("report"),
        TEMPLATES,
        tolerances="config/tolerances.yaml",
        suites=[suite_file(paper) for paper in SUITES],
        reference=sorted(map(str, Path("results/reference").glob("*/*.csv"))),
    output:
        "results/report.html",
    log:
        "logs/report.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        finished=finished,
        first=[word for paper in config["papers"] for word in ("--paper", paper)],
    shell:
        "xmlc report {params.first} --out {output} > {log} 2>&1"


rule facts:
    input:
        sources("facts"),
        suites=[suite_file(paper) for paper in SUITES],
    output:
        "results/results.csv",
    log:
        "logs/facts.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        finished=finished,
    shell:
        "xmlc facts --out {output} > {log} 2>&1"


rule plan:
    output:
        "results/plan.json",
    log:
        "logs/plan.log",
    localrule: True
    params:
        plan=plan(),
    run:
        write_json(output[0], params.plan)
        Path(log[0]).write_text(f"Planned: {', '.join(params.plan)}\n", encoding="utf-8")
