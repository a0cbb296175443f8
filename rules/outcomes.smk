rule sum_outcomes:
    """What became of every call of a data set: outcomes by task, moments by completeness, refusals by reason."""
    input:
        statics=expand("results/{{dataset}}/captions/statics/{shard}.counts.json", shard=SHARDS),
        dynamics=expand("results/{{dataset}}/captions/dynamics/{shard}.counts.json", shard=SHARDS),
        perturbations=expand("results/{{dataset}}/perturbations/{shard}.counts.json", shard=SHARDS),
    output:
        outcomes="results/{dataset}/captions/outcomes.json",
    log:
        "logs/{dataset}/sum_outcomes.log",
    conda:
        "../envs/asking.yaml"
    resources:
        mem_mb=scale_by_attempt(500),
        runtime=minutes(10),
    params:
        code=code_of("captions/sum_outcomes.py"),
    script:
        "../scripts/captions/sum_outcomes.py"
