from verified.annotations.paths import annotation_files
from verified.config import outputs
from verified.tables.inputs import demo_fps, demo_segments, validity_folders, validity_runs


rule measure_validity:
    """The demo's stages against its truth, which no other rule reads."""
    input:
        truth=rules.render_demo.output.truth,
        scenes=expand("results/{{dataset}}/corpus/scenes/{shard}.jsonl", shard=SHARDS),
        keyframes=outputs.keyframes("results/{dataset}", settings.shards),
        scores=outputs.scores("results/{dataset}", settings.shards),
        corrupted=outputs.corrupted("results/{dataset}", settings.shards),
        chosen=annotation_files(settings, "fig"),
        lowest=annotation_files(settings, "fig-lowest"),
        many_to_many=rules.count_many_to_many.output[0],
        queries=[f"{folder}/per_query.npz" for seeds in validity_runs(settings).values() for folder in seeds],
    output:
        validity="results/{dataset}/statistics/validity.json",
    log:
        "logs/{dataset}/measure_validity.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("statistics/measure_validity.py"),
        segments=demo_segments(settings),
        fps=demo_fps(settings),
        runs=validity_folders(settings),
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/statistics/measure_validity.py"
