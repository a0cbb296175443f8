from verified.evaluator.paths import (
    all_files,
    clip_ending,
    described_datasets,
    fine_tuning,
    gpu_model,
    known_truths,
    starting_checkpoint,
    tuple_files,
    validation_files,
)

CLIPS = f"results/{{dataset}}/evaluator/clips/{{shard}}{clip_ending(settings)}"


rule gather_clips:
    """Frames of a shard's moments, decoded once for fine-tuning and scoring (section 3.3)."""
    input:
        moments="results/{dataset}/corpus/shards/{shard}.moments.jsonl",
        videos="results/{dataset}/corpus/shards/{shard}.videos.jsonl",
    output:
        clips=CLIPS if settings.evaluator.keep_clips else temp(CLIPS),
        index="results/{dataset}/evaluator/clips/{shard}.jsonl",
    log:
        "logs/{dataset}/gather_clips/{shard}.log",
    benchmark:
        "logs/{dataset}/gather_clips/{shard}.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
        disk_mb=10000,
    params:
        threads=1,
        frames=settings.evaluator.frames,
        per_interval=settings.evaluator.frames_per_interval,
        image_size=settings.evaluator.image_size,
        clip_side=settings.evaluator.clip_side,
        shards=settings.shards,
    script:
        "../scripts/gather_clips.py"


rule pretrain_evaluator:
    """The demo's stand-in for UMT's pre-training: clips of a separate world with full true captions."""
    output:
        checkpoint=f"{EVALUATOR}/pretrained.safetensors",
        record=f"{EVALUATOR}/pretraining.jsonl",
    log:
        f"logs/{settings.name}/pretrain_evaluator.log",
    benchmark:
        f"logs/{settings.name}/pretrain_evaluator.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
        disk_mb=500,
    params:
        threads=settings.evaluator.threads,
        size=settings.evaluator.size,
        frames=settings.evaluator.frames,
        image_size=settings.evaluator.image_size,
        clips=settings.evaluator.pretrain_clips,
        batch=settings.evaluator.pretrain_batch,
        learning_rate=settings.evaluator.pretrain_learning_rate,
        seed=settings.seed,
    script:
        "../scripts/pretrain_evaluator.py"


rule finetune_evaluator:
    """Fine-tuning with disturbed captions of all data sets of the configuration (Equations 9 to 11)."""
    input:
        checkpoint=starting_checkpoint(settings),
        moments=tuple_files(settings, "moments"),
        perturbations=tuple_files(settings, "perturbations"),
        clips=tuple_files(settings, "clips"),
        indices=tuple_files(settings, "indices"),
    output:
        checkpoint=f"{EVALUATOR}/checkpoint.safetensors",
        card=f"{EVALUATOR}/card.json",
        record=f"{EVALUATOR}/log.jsonl",
    log:
        f"logs/{settings.name}/finetune_evaluator.log",
    benchmark:
        f"logs/{settings.name}/finetune_evaluator.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=growing(3000 if settings.evaluator.size == "tiny" else 64000),
        runtime=growing(120 if settings.evaluator.size == "tiny" else 2880),
        disk_mb=5000,
        gpu=settings.evaluator.gpus,
        gpu_model=gpu_model(settings),
    params:
        threads=settings.evaluator.threads,
        datasets=described_datasets(settings),
        settings=fine_tuning(settings),
        seed=settings.seed,
    script:
        "../scripts/finetune_evaluator.py"


rule score_captions:
    """Confidence scores of all candidate captions of a shard (section 3.3)."""
    input:
        checkpoint=f"{EVALUATOR}/checkpoint.safetensors",
        clips=CLIPS,
        index="results/{dataset}/evaluator/clips/{shard}.jsonl",
        statics="results/{dataset}/captions/statics/{shard}.jsonl",
        dynamics="results/{dataset}/captions/dynamics/{shard}.jsonl",
    output:
        scores="results/{dataset}/evaluator/scores/{shard}.jsonl",
        counts="results/{dataset}/evaluator/scores/{shard}.counts.json",
    log:
        "logs/{dataset}/score_captions/{shard}.log",
    benchmark:
        "logs/{dataset}/score_captions/{shard}.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=growing(3000 if settings.evaluator.size == "tiny" else 16000),
        runtime=growing(60 if settings.evaluator.size == "tiny" else 120),
        disk_mb=200,
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=gpu_model(settings),
    params:
        threads=settings.evaluator.threads,
        confidence=settings.evaluator.confidence,
        precision=settings.evaluator.precision,
    script:
        "../scripts/score_captions.py"


rule validate_evaluator:
    """The evaluator graded by perturbations it never saw and, in the demo, by the truth about its candidates."""
    input:
        unpack(validation_files(settings)),
        checkpoint=f"{EVALUATOR}/checkpoint.safetensors",
    output:
        validation="results/{dataset}/evaluator/validation.json",
    log:
        "logs/{dataset}/validate_evaluator.log",
    benchmark:
        "logs/{dataset}/validate_evaluator.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=growing(3000 if settings.evaluator.size == "tiny" else 16000),
        runtime=growing(60 if settings.evaluator.size == "tiny" else 480),
        disk_mb=1000,
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=gpu_model(settings),
    params:
        threads=settings.evaluator.threads,
        confidence=settings.evaluator.confidence,
        precision=settings.evaluator.precision,
        resamples=settings.retrieval.bootstrap,
        seed=settings.seed,
    script:
        "../scripts/validate_evaluator.py"


rule ablate_evaluator:
    """What fine-tuning and its disturbed negatives are worth: no fine-tuning, none, and as configured."""
    input:
        start=starting_checkpoint(settings),
        checkpoint=f"{EVALUATOR}/checkpoint.safetensors",
        moments=tuple_files(settings, "moments"),
        perturbations=tuple_files(settings, "perturbations"),
        clips=tuple_files(settings, "clips"),
        indices=tuple_files(settings, "indices"),
        truth=all_files(known_truths(settings)),
    output:
        ablation=f"{EVALUATOR}/ablation.json",
    log:
        f"logs/{settings.name}/ablate_evaluator.log",
    benchmark:
        f"logs/{settings.name}/ablate_evaluator.tsv"
    conda:
        "../envs/evaluator.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=growing(3000 if settings.evaluator.size == "tiny" else 64000),
        runtime=growing(120 if settings.evaluator.size == "tiny" else 2880),
        disk_mb=5000,
        gpu=settings.evaluator.gpus,
        gpu_model=gpu_model(settings),
    params:
        threads=settings.evaluator.threads,
        datasets=described_datasets(settings),
        captions=known_truths(settings),
        settings=fine_tuning(settings),
        resamples=settings.retrieval.bootstrap,
        seed=settings.seed,
    script:
        "../scripts/ablate_evaluator.py"
