from verified.lmm.tasks.coarse_caption import COARSE_CAPTION


rule caption_scenes:
    """A first coarse caption for each scene, of videos without moments or with `propose_moments`."""
    input:
        **ASKING.inputs([COARSE_CAPTION], "video_lmm"),
        scenes=rules.detect_scenes.output.scenes,
    output:
        captions="results/{dataset}/corpus/scenes/{shard}.captions.jsonl",
        counts="results/{dataset}/corpus/scenes/{shard}.counts.json",
    log:
        "logs/{dataset}/caption_scenes/{shard}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        ASKING.environment("video_lmm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("video_lmm"),
    params:
        code=code_of("corpus/caption_scenes.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("video_lmm"),
        dynamics=dataset_settings("dynamics"),
        generation=ASKING.values(COARSE_CAPTION),
        asked_in=asked_in_of("results/{dataset}/corpus/scenes/{shard}.counts.json"),
        seed=settings.seed,
    script:
        "../scripts/corpus/caption_scenes.py"


rule propose_moments:
    """A moments file for people to correct, from scenes and their captions."""
    input:
        scenes=layout.shards("results/{dataset}/corpus/scenes/{shard}.captions.jsonl"),
        hashes=expand(rules.hash_videos.output.hashes, shard=SHARDS, allow_missing=True),
    output:
        moments="results/{dataset}/corpus/proposed.csv",
    log:
        "logs/{dataset}/propose_moments.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/asking.yaml"
    resources:
        **needs(1000, minutes=10),
    params:
        code=code_of("corpus/propose_moments.py"),
        proposals=dataset_settings("proposals"),
        splits=of_key(split_settings),
        seed=settings.seed,
    script:
        "../scripts/corpus/propose_moments.py"
