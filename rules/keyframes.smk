rule extract_keyframes:
    """Keyframes of all moments of a shard (section 3.1): JPEGs and an index in one tar."""
    input:
        moments=ancient("results/{dataset}/corpus/moments.jsonl"),
        videos=ancient("results/{dataset}/corpus/videos.jsonl"),
    output:
        keyframes="results/{dataset}/keyframes/{shard}.tar",
    log:
        "logs/{dataset}/extract_keyframes/{shard}.log",
    benchmark:
        "logs/{dataset}/extract_keyframes/{shard}.tsv"
    conda:
        "../envs/keyframes.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
        disk_mb=2000,
    params:
        settings=dataset_settings("keyframes"),
        shards=settings.shards,
        rows=shard_rows,
        code=code_digest("keyframes", "common.video"),
    script:
        "../scripts/extract_keyframes.py"
