rule extract_keyframes:
    """Keyframes of all moments of a shard (section 3.1): JPEGs and an index in one tar."""
    input:
        moments=rules.probe_videos.output.moments,
        videos=rules.probe_videos.output.videos,
    output:
        keyframes=layout.keyframes,
    log:
        "logs/{dataset}/extract_keyframes/{shard}.log",
    priority: partial(shard_priority, settings.shards)
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=240, disk_mb=2000),
    params:
        code=code_of("keyframes/extract.py"),
        settings=dataset_settings("keyframes"),
    script:
        "../scripts/keyframes/extract.py"
