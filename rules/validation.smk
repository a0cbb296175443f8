from verified.config.folders import finetuning_datasets
from verified.evaluator.jobs import GRADED, validation_files


rule validate_evaluator:
    """The evaluator graded on unseen perturbations and, in the demo, by the truth about its candidates."""
    input:
        unpack(of_key(validation_files)),
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
        **needs(NEEDS["scoring_mb"], minutes=NEEDS["grading_minutes"], disk_mb=1000),
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=GPU_MODEL,
    params:
        code=code_of("evaluator/validate.py"),
        evaluator=deciding(settings.evaluator, OF_SCORES),
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/evaluator/validate.py"


use rule finetune_evaluator as finetune_without_negatives with:
    output:
        checkpoint=f"{EVALUATOR}/without-negatives/checkpoint.safetensors",
        card=f"{EVALUATOR}/without-negatives/card.json",
        record=f"{EVALUATOR}/without-negatives/log.jsonl",
    log:
        f"logs/{settings.name}/finetune_without_negatives.log",
    priority: CRITICAL_PATH - 1
    params:
        evaluator=deciding(settings.evaluator, FINE_TUNING) | {"hard_negatives": "none"},


rule ablate_evaluator:
    """The gain of fine-tuning and of its perturbed negatives: without fine-tuning, without these negatives, and in
    full.
    """
    input:
        **tuple_files(settings, *GRADED),
        start=starting_checkpoint(settings),
        without=rules.finetune_without_negatives.output.checkpoint,
        validations=of_datasets("evaluator/validation.json", finetuning_datasets(settings)),
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
        **needs(NEEDS["scoring_mb"], minutes=NEEDS["grading_minutes"], disk_mb=1000),
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=GPU_MODEL,
    params:
        code=code_of("evaluator/ablate.py"),
        evaluator=deciding(settings.evaluator, (*OF_SCORES, "hard_negatives")),
        datasets=described_datasets(settings, *GRADED),
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/evaluator/ablate.py"
