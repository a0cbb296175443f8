rule caption_statics:
    """Statics enhanced candidates (section 3.1): keyframes described one by one, then N_s captions per moment."""
    input:
        **ASKING.inputs(TASKS_OF_STAGE["statics"], "image_lmm", "llm"),
        moments=rules.probe_videos.output.moments,
        keyframes=rules.extract_keyframes.output.keyframes,
    output:
        captions=layout.statics,
        counts="results/{dataset}/captions/statics/{shard}.counts.json",
        corrupted="results/{dataset}/captions/statics/{shard}.corrupted.jsonl",
    log:
        "logs/{dataset}/caption_statics/{shard}.log",
    priority: partial(shard_priority, settings.shards)
    conda:
        ASKING.environment("image_lmm", "llm")
    threads: settings.generation.threads
    resources:
        **ASKING.needs("image_lmm", "llm", mb=2000),
    params:
        **ASKING.params(TASKS_OF_STAGE["statics"], "image_lmm", "llm"),
        code=code_of("captions/describe_statics.py"),
        seed=settings.seed,
    script:
        "../scripts/captions/describe_statics.py"


rule caption_dynamics:
    """Dynamics enhanced candidates (section 3.2): questions, answers from the frames, then N_d captions per moment."""
    input:
        **ASKING.inputs(TASKS_OF_STAGE["dynamics"], "video_lmm", "llm"),
        moments=rules.probe_videos.output.moments,
        videos=rules.probe_videos.output.videos,
    output:
        captions=layout.dynamics,
        counts="results/{dataset}/captions/dynamics/{shard}.counts.json",
        corrupted="results/{dataset}/captions/dynamics/{shard}.corrupted.jsonl",
    log:
        "logs/{dataset}/caption_dynamics/{shard}.log",
    priority: partial(shard_priority, settings.shards)
    conda:
        ASKING.environment("video_lmm", "llm")
    threads: ASKING.clip_threads
    resources:
        **ASKING.needs("video_lmm", "llm"),
    params:
        **ASKING.params(TASKS_OF_STAGE["dynamics"], "video_lmm", "llm"),
        code=code_of("captions/describe_dynamics.py"),
        dynamics=dataset_settings("dynamics"),
        seed=settings.seed,
    script:
        "../scripts/captions/describe_dynamics.py"
