from verified.tables.paths import ablations, annotated_here, demos, finished_studies, run_files, stage_tables

STATISTICS = ("language", "many_to_many", "confidence", "spans")


rule build_tables:
    """Every table of the paper for the configuration at hand, whole."""
    input:
        metrics=run_files(settings, "metrics.json"),
        hits=run_files(settings, "hits.npz"),
        statistics=expand("results/{dataset}/statistics/{name}.json", dataset=settings.datasets, name=STATISTICS),
        studies=finished_studies(settings),
        validity=expand("results/{dataset}/statistics/validity.json", dataset=demos(settings)),
        outcomes=expand("results/{dataset}/captions/outcomes.json", dataset=annotated_here(settings)),
        validations=expand("results/{dataset}/evaluator/validation.json", dataset=annotated_here(settings)),
        ablations=ablations(settings),
        stages=stage_tables(settings),
        # Not read by the tables: annotations of our own making come with their card and have passed the lint.
        cards=expand("results/{dataset}/annotations/README.md", dataset=annotated_here(settings)),
        lints=expand("results/{dataset}/annotations/lint.json", dataset=annotated_here(settings)),
        printed=f"{workflow.basedir}/config/paper_tables.csv",
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
        code=code_digest("tables", "common"),
    script:
        "../scripts/build_tables.py"
