from verified_pretrained.config import Pretrained

PRETRAINED = settings.section(Pretrained)
WEIGHTS = f"{HOME}/pretrained/weights"


rule train_image_backbone:
    """The small image network of the demo: a classifier of single synthetic frames, without its heads."""
    output:
        weights=f"{WEIGHTS}/image-backbone/model.safetensors",
        settings=f"{WEIGHTS}/image-backbone/config.json",
        record=f"{WEIGHTS}/image-backbone.log.jsonl",
        accuracy=f"{HOME}/pretrained/accuracy.json",
    log:
        f"logs/{settings.name}/train_image_backbone.log",
    conda:
        "../../envs/models.yaml"
    threads: PRETRAINED.threads
    resources:
        **needs(3000, minutes=240, disk_mb=100),
    params:
        code=code_of("extensions/pretrained/scripts/train_image_backbone.py"),
        threads=PRETRAINED.threads,
        pretrained=deciding(PRETRAINED, ("backbone_batch", "backbone_frames", "backbone_learning_rate")),
        seed=settings.seed,
    script:
        "scripts/train_image_backbone.py"


rule pretrain_evaluator:
    """In place of UMT's pre-training: separate synthetic clips with full true captions."""
    input:
        backbone=rules.train_image_backbone.output.weights,
    output:
        checkpoint=f"{WEIGHTS}/evaluator.safetensors",
        record=f"{WEIGHTS}/evaluator.log.jsonl",
    log:
        f"logs/{settings.name}/pretrain_evaluator.log",
    conda:
        "../../envs/models.yaml"
    threads: PRETRAINED.threads
    resources:
        **needs(3000, minutes=120, disk_mb=500),
    params:
        code=code_of("extensions/pretrained/scripts/pretrain_evaluator.py"),
        threads=PRETRAINED.threads,
        pretrained=deciding(
            PRETRAINED, ("frames", "image_size", "pretrain_batch", "pretrain_clips", "pretrain_learning_rate")
        ),
        seed=settings.seed,
    script:
        "scripts/pretrain_evaluator.py"


rule pretrained:
    """The card of all weights: accuracies on unseen frames and events, digests, and settings of both trainings."""
    input:
        backbone=rules.train_image_backbone.output.weights,
        settings=rules.train_image_backbone.output.settings,
        accuracy=rules.train_image_backbone.output.accuracy,
        backbone_log=rules.train_image_backbone.output.record,
        evaluator=rules.pretrain_evaluator.output.checkpoint,
        evaluator_log=rules.pretrain_evaluator.output.record,
    output:
        card=f"{WEIGHTS}/card.json",
    log:
        f"logs/{settings.name}/pretrained.log",
    conda:
        "../../envs/models.yaml"
    threads: PRETRAINED.threads
    resources:
        **needs(2000, minutes=30, disk_mb=10),
    params:
        code=code_of("extensions/pretrained/scripts/describe_pretrained.py"),
        threads=PRETRAINED.threads,
        seed=settings.seed,
        pretrained=deciding(PRETRAINED),
    script:
        "scripts/describe_pretrained.py"
