from verified.tables.inputs import validity_runs


rule measure_validity:
    """The demo's stages against its truth, which no other rule reads."""
    input:
        truth=rules.render_demo.output.truth,
        scenes=layout.shards(rules.detect_scenes.output.scenes),
        keyframes=layout.shards(layout.keyframes),
        scores=layout.shards(layout.scores),
        corrupted=layout.corrupted(),
        chosen=of_key(annotation_files),
        lowest=of_key(annotation_files, "fig-lowest"),
        many_to_many=rules.count_many_to_many.output[0],
        queries=lambda wildcards: [
            f"{folder}/per_query.npz" for folders in of_key(validity_runs)(wildcards).values() for folder in folders
        ],
    output:
        validity="results/{dataset}/statistics/validity.json",
    log:
        "logs/{dataset}/measure_validity.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("statistics/measure_validity.py"),
        segments=of_dataset(lambda dataset: dataset.keyframes.segments),
        fps=of_dataset(lambda dataset: dataset.source.fps),
        runs=of_key(validity_runs),
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/statistics/measure_validity.py"
