rule ask_models:
    """All calls of a stage for several shards, so that each model is loaded once for them; the ledger keeps them."""
    input:
        unpack(ASKING.inputs),
    output:
        asked=layout.asked,
    log:
        "logs/{dataset}/ask_models/{stage}-{job}.log",
    wildcard_constraints:
        stage="|".join(TASKS_OF_STAGE),
        job=r"job-\d+",
    retries: tries(240 * settings.generation.shards_per_job)
    conda:
        ASKING.environment("image_lmm", "video_lmm", "llm")
    threads: ASKING.threads_asking
    resources:
        **needs(
            64000 if ASKING.gpus("image_lmm", "video_lmm", "llm") else 8000,
            minutes=240 * settings.generation.shards_per_job,
            disk_mb=500,
        ),
        gpu=ASKING.gpus_asking,
        api_slots=ASKING.slots_asking,
    params:
        code=code_of("generation/ask.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("image_lmm", "video_lmm", "llm"),
        generation=lambda wildcards: ASKING.values(*TASKS_OF_STAGE[wildcards.stage]),
        dynamics=dataset_settings("dynamics"),
        shards=ASKING.shards,
        asked_in=asked_in_of("results/{dataset}/captions/asked/{stage}-{job}.json"),
        seed=settings.seed,
    script:
        "../scripts/generation/ask.py"
