from verified.evaluator.jobs import clip_ending
from verified_sentinels.config import FOLDER, ROLES, TASKS, Sentinels, captions_before, parts, parts_before

SENTINELS = settings.section(Sentinels)
SENTINEL_PARTS = parts(settings)


wildcard_constraints:
    part="|".join(SENTINEL_PARTS),


rule render_sentinels:
    """Moments with known facts: videos, the rows of a corpus, and keyframes."""
    output:
        videos=directory(f"{FOLDER}/videos"),
        moments=f"{FOLDER}/moments.jsonl",
        probed=f"{FOLDER}/videos.jsonl",
        keyframes=f"{FOLDER}/keyframes.tar",
        truth=f"{FOLDER}/truth.jsonl",
    log:
        "logs/{dataset}/render_sentinels.log",
    priority: CRITICAL_PATH + 1  # before any caption is asked for
    conda:
        "../../envs/data.yaml"
    threads: 2  # processes, on which no byte depends
    resources:
        **needs(1500, minutes=30, disk_mb=200),
    params:
        code=code_of("extensions/sentinels/scripts/render_sentinels.py"),
        number=SENTINELS.number,
        size=SENTINELS.size,
        keyframes=dataset_settings("keyframes"),
        seed=settings.seed,
    script:
        "scripts/render_sentinels.py"


rule ask_sentinels:
    """Statics and dynamics candidates of a part of the sentinels, asked between those of the data set's shards."""
    input:
        **ASKING.inputs(TASKS, *ROLES),
        moments=rules.render_sentinels.output.moments,
        videos=rules.render_sentinels.output.probed,
        keyframes=rules.render_sentinels.output.keyframes,
        truth=rules.render_sentinels.output.truth,
        earlier=partial(parts_before, settings),
        after=partial(captions_before, settings),
    output:
        captions=f"{FOLDER}/captions/{{part}}.jsonl",
        counts=f"{FOLDER}/captions/{{part}}.counts.json",
    log:
        "logs/{dataset}/ask_sentinels/{part}.log",
    priority: CRITICAL_PATH + 1  # before the captions of the next shard
    conda:
        "../" + ASKING.environment(*ROLES)
    threads: ASKING.clip_threads
    resources:
        **ASKING.needs(*ROLES),
    params:
        code=code_of("extensions/sentinels/scripts/ask_sentinels.py"),
        engines=ASKING.engine_code(*ROLES),
        generation=ASKING.values(*TASKS),
        dynamics=dataset_settings("dynamics"),
        part=lambda wildcards: SENTINEL_PARTS.index(wildcards.part),
        parts=len(SENTINEL_PARTS),
        limit=SENTINELS.limit,
        seed=settings.seed,
    script:
        "scripts/ask_sentinels.py"


rule measure_sentinels:
    """Captions of the sentinels against the truth, and how the evaluator chooses among them."""
    input:
        checkpoint=rules.finetune_evaluator.output.checkpoint,
        moments=rules.render_sentinels.output.moments,
        videos=rules.render_sentinels.output.probed,
        truth=rules.render_sentinels.output.truth,
        captions=expand(f"{FOLDER}/captions/{{part}}.jsonl", part=SENTINEL_PARTS, allow_missing=True),
        selection=of_dataset(
            lambda dataset: f"results/{{dataset}}/annotations/selection/{dataset.spans.test_split}.json"
        ),
    output:
        measures=f"{FOLDER}/measures.json",
        judged=f"{FOLDER}/judged.jsonl",
    log:
        "logs/{dataset}/measure_sentinels.log",
    retries: tries(NEEDS["scoring_minutes"])
    conda:
        "../../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        **needs(NEEDS["scoring_mb"], minutes=NEEDS["scoring_minutes"], disk_mb=200),
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=GPU_MODEL,
    params:
        code=code_of("extensions/sentinels/scripts/measure_sentinels.py"),
        evaluator=deciding(settings.evaluator, OF_SCORES),
        clips=deciding(settings.evaluator, OF_CLIPS),
        ending=clip_ending(settings),
    script:
        "scripts/measure_sentinels.py"
