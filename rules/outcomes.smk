rule sum_outcomes:
    """Outcomes of all calls of a data set: by task, moments by completeness, refusals by reason."""
    input:
        statics=layout.shards("results/{dataset}/captions/statics/{shard}.counts.json"),
        dynamics=layout.shards("results/{dataset}/captions/dynamics/{shard}.counts.json"),
        perturbations=layout.shards("results/{dataset}/perturbations/{shard}.counts.json"),
    output:
        outcomes="results/{dataset}/captions/outcomes.json",
    log:
        "logs/{dataset}/sum_outcomes.log",
    conda:
        "../envs/asking.yaml"
    resources:
        **needs(500, minutes=10),
    params:
        code=code_of("captions/sum_outcomes.py"),
    script:
        "../scripts/captions/sum_outcomes.py"
