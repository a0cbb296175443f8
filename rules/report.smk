from verified.report.pages import page_digest
from verified.report.paths import browser_facts, browser_inputs


rule browse_captions:
    """The caption browser of a data set: one page that needs no network."""
    input:
        unpack(browser_inputs(settings)),
    output:
        page=report(
            "results/report/{dataset}/captions.html",
            caption="../report/captions.rst",
            category="Captions",
            labels={"data set": "{dataset}", "page": "caption browser"},
        ),
        parts=directory("results/report/{dataset}/captions-parts"),
    log:
        "logs/{dataset}/browse_captions.log",
    benchmark:
        "logs/{dataset}/browse_captions.tsv"
    conda:
        "../envs/report.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        about=browser_facts(settings),
        page=page_digest("captions"),
        code=code_digest("report", "common"),
    script:
        "../scripts/browse_captions.py"
