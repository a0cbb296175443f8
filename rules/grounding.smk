from verified.benchmark.vcmr.paths import annotations_tested, follow_facts
from verified.lmm.tasks.retrieval import GROUND, tasks_of

FIRST = "results/{dataset}/retrieval/{first}/{trained_on}/seed-{seed}/{tested_on}"
GROUNDED = "results/{dataset}/retrieval/{first}-grounded/{trained_on}/seed-{seed}/{tested_on}"
RERANKED = "results/{dataset}/retrieval/{first}-reranked/{trained_on}/seed-{seed}/{tested_on}"


rule ground_videos:
    """The video LMM says when the best videos of a first stage show what a query says."""
    input:
        first=f"{FIRST}/submission.json.gz",
        test=annotations_tested(settings),
        videos=expand("results/{{dataset}}/corpus/shards/{shard}.videos.jsonl", shard=SHARDS),
        prompts=ASKING.prompts(GROUND),
        weights=role_records(settings, "video_lmm"),
        cassettes=ASKING.cassettes("video_lmm"),
    output:
        submission=f"{GROUNDED}/submission.json.gz",
        metrics=f"{GROUNDED}/metrics.json",
        queries=f"{GROUNDED}/per_query.npz",
    log:
        "logs/{dataset}/ground_videos/{first}-{trained_on}-{seed}-{tested_on}.log",
    wildcard_constraints:
        first="[a-z0-9_]+",
        trained_on="cog|fig|fig-lowest|untrained",
    retries: tries(1440)
    conda:
        ASKING.environment("video_lmm")
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000 if not ASKING.gpus("video_lmm") else 64000),
        runtime=minutes(1440),
        disk_mb=500,
        gpu=ASKING.gpus("video_lmm"),
        api_slots=ASKING.api_slots("video_lmm"),
    params:
        code=code_of("retrieval/ask.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("video_lmm"),
        generation=ASKING.values(GROUND),
        grounder=deciding(settings.retrieval.grounder, ("frames", "videos")),
        nms_threshold=dataset_values(settings, lambda dataset: dataset.spans.nms_threshold),
        seed=settings.seed,
        facts=follow_facts(settings, "grounder"),
        asked_in=asked_in_of(f"{GROUNDED}/metrics.json"),
    script:
        "../scripts/retrieval/ask.py"


rule rerank_moments:
    """A model grades the best moments of a first stage."""
    input:
        first=f"{FIRST}/submission.json.gz",
        test=annotations_tested(settings),
        videos=expand("results/{{dataset}}/corpus/shards/{shard}.videos.jsonl", shard=SHARDS),
        prompts=ASKING.prompts(*(task for task in tasks_of(settings.retrieval.reranker.by) if task.prompted)),
        weights=role_records(settings, "video_lmm"),
        cassettes=ASKING.cassettes("video_lmm", "rerank"),
    output:
        submission=f"{RERANKED}/submission.json.gz",
        metrics=f"{RERANKED}/metrics.json",
        queries=f"{RERANKED}/per_query.npz",
    log:
        "logs/{dataset}/rerank_moments/{first}-{trained_on}-{seed}-{tested_on}.log",
    wildcard_constraints:
        first="[a-z0-9_]+(-grounded)?",
        trained_on="cog|fig|fig-lowest|untrained",
    retries: tries(1440)
    conda:
        ASKING.environment("video_lmm")
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000 if not ASKING.gpus("video_lmm") else 64000),
        runtime=minutes(1440),
        disk_mb=500,
        gpu=ASKING.gpus("video_lmm"),
        api_slots=ASKING.api_slots("video_lmm", "rerank"),
    params:
        code=code_of("retrieval/ask.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("video_lmm", "rerank"),
        generation=ASKING.values(*tasks_of(settings.retrieval.reranker.by)),
        reranker=deciding(settings.retrieval.reranker, ("by", "frames", "moments")),
        nms_threshold=dataset_values(settings, lambda dataset: dataset.spans.nms_threshold),
        seed=settings.seed,
        facts=follow_facts(settings, "reranker"),
        asked_in=asked_in_of(f"{RERANKED}/metrics.json"),
    script:
        "../scripts/retrieval/ask.py"
