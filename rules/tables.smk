from verified.tables.layout import runs

RUNS = runs(settings.retrieval.models)
STATISTICS = ("language", "many_to_many", "confidence", "spans")
DEMOS = [name for name, dataset in settings.datasets.items() if dataset.source.kind == "demo"]


def run_files(name):
    """File `name` of every retrieval run that the tables show."""
    return [
        f"results/{dataset}/retrieval/{model}/{trained}/seed-{seed}/{tested}/{name}"
        for dataset in settings.datasets
        for model, trained, tested in RUNS
        for seed in settings.retrieval.seeds
    ]


def finished_studies(wildcards):
    """Summaries of user studies that people have answered: no rule makes them, `verified study import` does."""
    summaries = expand("results/{dataset}/study/summary.json", dataset=settings.datasets)
    return [path for path in summaries if Path(path).is_file()]


rule build_tables:
    """Every table of the paper for the configuration at hand, whole."""
    input:
        metrics=run_files("metrics.json"),
        hits=run_files("hits.npz"),
        statistics=expand("results/{dataset}/statistics/{name}.json", dataset=settings.datasets, name=STATISTICS),
        studies=finished_studies,
        validity=expand("results/{dataset}/statistics/validity.json", dataset=DEMOS),
    output:
        tables=report(
            directory("results/tables"),
            patterns=["{table}.html"],
            caption="../report/tables.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "logs/build_tables.log",
    benchmark:
        "logs/build_tables.tsv"
    conda:
        "../envs/tables.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        settings=settings.model_dump(mode="json"),
        project=workflow.basedir,
        code=code_digest("tables", "common"),
    script:
        "../scripts/build_tables.py"
