from verified.benchmark.vcmr.paths import annotations_tested, dense_facts
from verified.lmm.tasks.embedding import EMBEDDING


rule embed_videos:
    """Vectors of the test videos of a shard by the role `embed`: a frame, or a clip, for every few seconds."""
    input:
        videos=rules.probe_videos.output.videos,
        moments="results/{dataset}/corpus/moments.jsonl",
        weights=role_records(settings, "embed"),
        cassettes=ASKING.cassettes("embed"),
    output:
        features="results/{dataset}/features/embedded/{shard}.h5",
        counts="results/{dataset}/features/embedded/{shard}.counts.json",
    log:
        "logs/{dataset}/embed_videos/{shard}.log",
    conda:
        "../envs/asking.yaml"
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(720),
        disk_mb=2000,
        gpu=ASKING.gpus("embed"),
        api_slots=ASKING.api_slots("embed"),
    params:
        code=code_of("features/embed_videos.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("embed"),
        generation=ASKING.values(EMBEDDING),
        split=dataset_values(settings, lambda dataset: dataset.spans.test_split),
        asked_in=asked_in_of("results/{dataset}/features/embedded/{shard}.counts.json"),
    script:
        "../scripts/features/embed_videos.py"


rule rank_dense:
    """Test videos and windows by the cosine of vectors, without training, and their recall."""
    input:
        test=annotations_tested(settings),
        videos=expand("results/{{dataset}}/corpus/shards/{shard}.videos.jsonl", shard=SHARDS),
        features=outputs.embedded_videos("results/{dataset}", settings.shards),
        weights=role_records(settings, "embed"),
        cassettes=ASKING.cassettes("embed"),
    output:
        submission="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/submission.json.gz",
        metrics="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/metrics.json",
        queries="results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/per_query.npz",
    log:
        "logs/{dataset}/rank_dense/{tested_on}.log",
    conda:
        "../envs/asking.yaml"
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
        gpu=ASKING.gpus("embed"),
        api_slots=ASKING.api_slots("embed"),
    params:
        code=code_of("retrieval/rank_dense.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("embed"),
        generation=ASKING.values(EMBEDDING),
        spans=dataset_settings("spans"),
        facts=dense_facts(settings),
        asked_in=asked_in_of("results/{dataset}/retrieval/dense/untrained/seed-0/{tested_on}/metrics.json"),
    script:
        "../scripts/retrieval/rank_dense.py"
