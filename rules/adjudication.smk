from verified.config.folders import dataset_wildcards, datasets_with


rule adjudicate_review:
    """Outcomes of reviewers' decisions, the state of each decision, and the agreement of reviewers."""
    input:
        review=list(settings.annotations.review),
        moments=layout.moments,
        scores=layout.shards(layout.scores),
    output:
        outcomes="results/{dataset}/annotations/review/settled.json",
        tables="results/{dataset}/annotations/review/tables.json",
    log:
        "logs/{dataset}/adjudicate_review.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("annotations/adjudicate.py"),
        datasets=list(settings.datasets),
        lint=deciding(settings.annotations.lint),
        title=title_of,
    script:
        "../scripts/annotations/adjudicate.py"


if settings.annotations.review:
    STAGE_TABLES += expand(
        rules.adjudicate_review.output.tables,
        dataset=dataset_wildcards(settings, datasets_with(settings, "annotated_here")),
    )
