VALIDITY_RUNS = {
    trained: f"results/{{dataset}}/retrieval/xml/{trained}/seed-{settings.retrieval.seeds[0]}/fig"
    for model, trained, tested in runs(settings.retrieval.models)
    if model == "xml" and tested == "fig"
}


def demo_segments(wildcards):
    return settings.datasets[wildcards.dataset].keyframes.segments


def demo_fps(wildcards):
    return settings.datasets[wildcards.dataset].source.fps


def validity_folders(wildcards):
    return {trained: folder.format(dataset=wildcards.dataset) for trained, folder in VALIDITY_RUNS.items()}


rule measure_validity:
    """The demo's stages against its truth, which no other rule reads."""
    input:
        truth="results/{dataset}/corpus/truth.jsonl",
        keyframes=expand("results/{{dataset}}/keyframes/{shard}.tar", shard=SHARDS),
        scores=expand("results/{{dataset}}/evaluator/scores/{shard}.jsonl", shard=SHARDS),
        spoiled=expand("results/{{dataset}}/captions/spoiled/{shard}.jsonl", shard=SHARDS),
        many_to_many="results/{dataset}/statistics/many_to_many.json",
        hits=[f"{folder}/hits.npz" for folder in VALIDITY_RUNS.values()],
    output:
        validity="results/{dataset}/statistics/validity.json",
    log:
        "logs/{dataset}/measure_validity.log",
    benchmark:
        "logs/{dataset}/measure_validity.tsv"
    conda:
        "../envs/tables.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        segments=demo_segments,
        fps=demo_fps,
        runs=validity_folders,
        resamples=settings.retrieval.bootstrap,
        seed=settings.seed,
        code=code_digest("statistics", "common"),
    script:
        "../scripts/measure_validity.py"
