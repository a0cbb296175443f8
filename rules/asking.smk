from verified.generation.jobs import ROLES_OF_STAGE, asked_first, job_of_shard, shards_of_job


def asking_shards(wildcards):
    """Shards of a job of ask_models."""
    return shards_of_job(wildcards.job, SHARDS, settings.generation.shards_per_job)


def asking_gpus(wildcards):
    """GPUs of a job of ask_models: the most that any of its models takes, as they take turns."""
    return engine_gpus(*ROLES_OF_STAGE[wildcards.stage])


def asking_slots(wildcards):
    """Calls to endpoints that are under way at once in a job of ask_models."""
    return api_slots(*ROLES_OF_STAGE[wildcards.stage])


def asking_inputs(wildcards):
    """Files of all shards that a job of ask_models asks about."""
    shards = asking_shards(wildcards)
    folder, roles = f"results/{wildcards.dataset}", ROLES_OF_STAGE[wildcards.stage]
    found = {
        "moments": expand(f"{folder}/corpus/shards/{{shard}}.moments.jsonl", shard=shards),
        "prompts": prompt_files(*TASKS_OF_STAGE[wildcards.stage]),
        "weights": role_records(settings, *roles),
        "cassettes": cassettes(*roles),
    }
    if wildcards.stage == "statics":
        found["keyframes"] = expand(f"{folder}/keyframes/{{shard}}.tar", shard=shards)
    if wildcards.stage == "dynamics":
        found["videos"] = expand(f"{folder}/corpus/shards/{{shard}}.videos.jsonl", shard=shards)
    return found


def asked_by(stage):
    """An input function: the job of ask_models that makes the calls of a shard; none where the shard's job does."""

    def files(wildcards):
        if not asked_first(settings.generation, stage):
            return []
        job = job_of_shard(wildcards.shard, SHARDS, settings.generation.shards_per_job)
        return [f"results/{wildcards.dataset}/captions/asked/{stage}-{job}.json"]

    return files


def stage_gpus(stage):
    """GPUs of a shard's job: none where ask_models makes its calls."""
    return 0 if asked_first(settings.generation, stage) else engine_gpus(*ROLES_OF_STAGE[stage])


rule ask_models:
    """All calls of a stage for several shards, so that each model is loaded once for them; the ledger keeps them."""
    input:
        unpack(asking_inputs),
    output:
        asked="results/{dataset}/captions/asked/{stage}-{job}.json",
    log:
        "logs/{dataset}/ask_models/{stage}-{job}.log",
    benchmark:
        "logs/{dataset}/ask_models/{stage}-{job}.tsv"
    wildcard_constraints:
        stage="|".join(ROLES_OF_STAGE),
        job=r"job-\d+",
    conda:
        generation_environment("captions", "image_lmm", "video_lmm", "llm")
    threads: settings.generation.threads
    resources:
        mem_mb=growing(64000 if engine_gpus("image_lmm", "video_lmm", "llm") else 8000),
        runtime=growing(240 * settings.generation.shards_per_job),
        disk_mb=500,
        gpu=asking_gpus,
        api_slots=asking_slots,
    params:
        threads=settings.generation.threads,
        engines=engine_code("image_lmm", "video_lmm", "llm"),
        generation=asking_settings(),
        dynamics=dataset_settings("dynamics"),
        shards=asking_shards,
        asked_in=asked_in_of("results/{dataset}/captions/asked/{stage}-{job}.json"),
        seed=settings.seed,
    script:
        "../scripts/ask_models.py"
