# Keys of the section `evaluator` that decide the pre-training of size tiny.
PRETRAINING_KEYS = {
    "size",
    "frames",
    "image_size",
    "threads",
    "backbone_frames",
    "backbone_batch",
    "backbone_learning_rate",
    "pretrain_clips",
    "pretrain_batch",
    "pretrain_learning_rate",
}
BACKBONE = f"{HOME}/image-backbone"


rule train_image_backbone:
    """The small image network of the demo: a classifier of single synthetic frames, without its heads."""
    output:
        weights=f"{BACKBONE}/model.safetensors",
        settings=f"{BACKBONE}/config.json",
        accuracy=f"{BACKBONE}/accuracy.json",
        record=f"{HOME}/image-backbone.log.jsonl",
    log:
        f"logs/{settings.name}/train_image_backbone.log",
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        **needs(3000, minutes=240, disk_mb=100),
    params:
        code=code_of("demo/train_image_backbone.py"),
        threads=settings.evaluator.threads,
        evaluator=deciding(settings.evaluator, ("backbone_batch", "backbone_frames", "backbone_learning_rate")),
        seed=settings.seed,
    script:
        "../scripts/demo/train_image_backbone.py"


rule describe_pretrained:
    """The card: accuracies on unseen frames and events, digests, and training settings of both networks."""
    input:
        backbone=rules.train_image_backbone.output.weights,
        settings=rules.train_image_backbone.output.settings,
        accuracy=rules.train_image_backbone.output.accuracy,
        backbone_log=rules.train_image_backbone.output.record,
        evaluator=rules.pretrain_evaluator.output.checkpoint,
        evaluator_log=rules.pretrain_evaluator.output.record,
    output:
        card=f"{HOME}/card.json",
    log:
        f"logs/{settings.name}/describe_pretrained.log",
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        **needs(2000, minutes=30, disk_mb=10),
    params:
        code=code_of("demo/describe_pretrained.py"),
        threads=settings.evaluator.threads,
        plan={
            "command": "make pretrained",
            "seed": settings.seed,
            **deciding(settings.evaluator, PRETRAINING_KEYS),
        },
    script:
        "../scripts/demo/describe_pretrained.py"


rule pretrained:
    """All shipped pre-trained weights."""
    input:
        rules.describe_pretrained.output.card,
