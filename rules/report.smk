from verified.config.trust import any_confidence_warning
from verified.report import CAPTIONS_PAGE, FRONT_PAGE
from verified.report.contents import browser_facts, browser_inputs, caption_models, front_corpora
from verified.tables.inputs import leading_tables
from verified.tables.shown import concerns_paper

CORPORA = front_corpora(settings)

# The front page describes the whole run, which as a module of another workflow is not ours.
if workflow.modifier.namespace is None:

    report: "../report/workflow.rst"


rule report_items:
    """Everything that the report shows: `snakemake report_items --report results/report.html` gathers it."""
    input:
        lambda wildcards: REPORT_FILES,


rule summarise_report:
    """The front page's summary, and a verdict for every published figure."""
    input:
        [file for corpus in CORPORA for file in corpus["annotations"] + corpus["keyframes"]],
        tables=rules.build_tables.output[0],
        validity=of_datasets("statistics/validity.json", shown_datasets(settings, "has_truth")),
    output:
        summary=f"{HOME}/report/summary.html",
        verdicts=(
            report(
                f"{HOME}/report/verdicts.html",
                caption="../report/verdicts.rst",
                category="Verdicts",
                labels={"page": "all published figures"},
            )
            if concerns_paper(map(settings.datasets.get, shown_datasets(settings)))
            else f"{HOME}/report/verdicts.html"
        ),
    log:
        f"logs/{settings.name}/summarise_report.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("report/summarise.py"),
        leading=leading_tables(settings),
        warning=any_confidence_warning(settings),
        corpora=CORPORA,
        models=caption_models(settings),
    script:
        "../scripts/report/summarise.py"


rule browse_captions:
    """The caption browser of a data set: one page that needs no network."""
    input:
        unpack(of_key(browser_inputs)),
    output:
        page=report(
            "results/{dataset}/report/captions.html",
            caption="../report/captions.rst",
            category="Captions",
            labels=partial(dataset_labels, {"page": "caption browser"}),
        ),
        parts=directory("results/{dataset}/report/captions-parts"),
    log:
        "logs/{dataset}/browse_captions.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(4000, minutes=60),
    params:
        code=code_of("report/browse_captions.py"),
        about=of_key(browser_facts),
    script:
        "../scripts/report/browse_captions.py"


REPORT_FILES += [f"{HOME}/tables", *rules.summarise_report.output]
REPORT_FILES += expand(rules.browse_captions.output.page, dataset=dataset_wildcards(settings, shown_datasets(settings)))
