from verified.tables.added import added_code, added_inputs
from verified.tables.inputs import finished_studies, run_files, shown_records
from verified.tables.shown import shown_values

STATISTICS = ("language", "many_to_many", "confidence", "spans")


rule build_tables:
    """Every table of the paper for the current configuration, whole."""
    input:
        unpack(added_inputs(settings)),
        metrics=run_files(settings, "metrics.json"),
        queries=run_files(settings, "per_query.npz"),
        statistics=of_datasets("statistics/{name}.json", shown_datasets(settings), name=STATISTICS),
        studies=lambda wildcards: finished_studies(settings),
        counts=of_datasets("corpus/counts.json", shown_datasets(settings, "published")),
        validity=of_datasets("statistics/validity.json", shown_datasets(settings, "has_truth")),
        stages=lambda wildcards: STAGE_TABLES,
        # Not read by the tables: annotations of this run have their card and have passed the lint.
        cards=of_datasets("annotations/README.md", shown_datasets(settings, "annotated_here")),
        lints=of_datasets("annotations/lint.json", shown_datasets(settings, "annotated_here")),
        weights=shown_records(settings),
        published=PUBLISHED,
    output:
        tables=report(
            directory(f"{HOME}/tables"),
            patterns=["{table}.html"],
            caption="../report/tables.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        f"logs/{settings.name}/build_tables.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("tables/build.py"),
        settings=shown_values(settings),
        added=added_code(),
    script:
        "../scripts/tables/build.py"
