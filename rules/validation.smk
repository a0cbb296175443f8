from verified.evaluator.paths import (
    all_files,
    described_datasets,
    gpu_model,
    known_truths,
    starting_checkpoint,
    tuple_files,
    validation_files,
    validations,
)
from verified.evaluator.settings import fine_tuning


rule validate_evaluator:
    """The evaluator graded by perturbations it never saw and, in the demo, by the truth about its candidates."""
    input:
        unpack(validation_files(settings)),
        checkpoint=rules.finetune_evaluator.output.checkpoint,
    output:
        validation="results/{dataset}/evaluator/validation.json",
    log:
        "logs/{dataset}/validate_evaluator.log",
    retries: tries(NEEDS["grading_minutes"])
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=scale_by_attempt(NEEDS["scoring_mb"]),
        runtime=minutes(NEEDS["grading_minutes"]),
        disk_mb=1000,
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=gpu_model(settings),
    params:
        code=code_of("evaluator/validate.py"),
        threads=settings.evaluator.threads,
        confidence=settings.evaluator.confidence,
        precision=settings.evaluator.precision,
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/evaluator/validate.py"


rule finetune_without_negatives:
    """For the ablation: the same fine-tuning without perturbed negatives."""
    input:
        checkpoint=starting_checkpoint(settings),
        moments=tuple_files(settings, "moments"),
        perturbations=tuple_files(settings, "perturbations"),
        clips=tuple_files(settings, "clips"),
        indices=tuple_files(settings, "indices"),
    output:
        checkpoint=f"{EVALUATOR}/without-negatives/checkpoint.safetensors",
        card=f"{EVALUATOR}/without-negatives/card.json",
        record=f"{EVALUATOR}/without-negatives/log.jsonl",
    log:
        f"logs/{settings.name}/finetune_without_negatives.log",
    priority: CRITICAL_PATH - 1
    retries: tries(NEEDS["training_minutes"])
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=scale_by_attempt(NEEDS["training_mb"]),
        runtime=minutes(NEEDS["training_minutes"]),
        disk_mb=5000,
        gpu=settings.evaluator.gpus,
        gpu_model=gpu_model(settings),
    params:
        code=code_of("evaluator/finetune.py"),
        threads=settings.evaluator.threads,
        datasets=described_datasets(settings),
        settings=fine_tuning(settings, hard_negatives="none"),
        save_seconds=settings.evaluator.save_seconds,
        seed=settings.seed,
    script:
        "../scripts/evaluator/finetune.py"


rule ablate_evaluator:
    """What fine-tuning and its perturbed negatives are worth: no fine-tuning, none, and as it was validated."""
    input:
        start=starting_checkpoint(settings),
        without=rules.finetune_without_negatives.output.checkpoint,
        validations=validations(settings),
        perturbations=tuple_files(settings, "perturbations"),
        clips=tuple_files(settings, "clips"),
        indices=tuple_files(settings, "indices"),
        truth=all_files(known_truths(settings)),
    output:
        ablation=f"{EVALUATOR}/ablation.json",
    log:
        f"logs/{settings.name}/ablate_evaluator.log",
    priority: CRITICAL_PATH - 1
    retries: tries(NEEDS["grading_minutes"])
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        mem_mb=scale_by_attempt(NEEDS["scoring_mb"]),
        runtime=minutes(NEEDS["grading_minutes"]),
        disk_mb=1000,
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=gpu_model(settings),
    params:
        code=code_of("evaluator/ablate.py"),
        threads=settings.evaluator.threads,
        datasets=described_datasets(settings),
        captions=known_truths(settings),
        confidence=settings.evaluator.confidence,
        precision=settings.evaluator.precision,
        hard_negatives=settings.evaluator.hard_negatives,
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/evaluator/ablate.py"
