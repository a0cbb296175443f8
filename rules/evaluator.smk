from verified.evaluator.jobs import TUPLES, clip_ending, described_datasets, starting_checkpoint, tuple_files
from verified.evaluator.settings import FINE_TUNING, OF_CLIPS, OF_SCORES, job_needs

NEEDS = job_needs(settings.evaluator.size)
# Jobs without GPUs must not name a model of them.
GPU_MODEL = settings.evaluator.gpu_model if settings.evaluator.gpus else ""
CLIPS = f"results/{{dataset}}/evaluator/clips/{{shard}}{clip_ending(settings)}"


rule gather_clips:
    """Frames of a shard's moments, decoded once for fine-tuning and scoring (section 3.3)."""
    input:
        moments=rules.probe_videos.output.moments,
        videos=rules.probe_videos.output.videos,
    output:
        clips=CLIPS if settings.evaluator.keep_clips else temp(CLIPS),
        index=layout.clip_index,
    log:
        "logs/{dataset}/gather_clips/{shard}.log",
    priority: CRITICAL_PATH
    conda:
        "../envs/models.yaml"
    resources:
        **needs(2000, minutes=240, disk_mb=10000),
    params:
        code=code_of("evaluator/gather_clips.py"),
        clips=deciding(settings.evaluator, OF_CLIPS),
        keep=settings.evaluator.keep_clips,
    script:
        "../scripts/evaluator/gather_clips.py"


rule finetune_evaluator:
    """Fine-tuning with perturbed captions of all data sets of the configuration (Equations 9 to 11)."""
    input:
        enough_moments,
        **tuple_files(settings, *TUPLES),
        checkpoint=starting_checkpoint(settings),
    output:
        checkpoint=f"{EVALUATOR}/checkpoint.safetensors",
        card=f"{EVALUATOR}/card.json",
        record=f"{EVALUATOR}/log.jsonl",
    log:
        f"logs/{settings.name}/finetune_evaluator.log",
    priority: CRITICAL_PATH
    retries: tries(NEEDS["training_minutes"])
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        **needs(NEEDS["training_mb"], minutes=NEEDS["training_minutes"], disk_mb=5000),
        gpu=settings.evaluator.gpus,
        gpu_model=GPU_MODEL,
    params:
        code=code_of("evaluator/finetune.py"),
        threads=settings.evaluator.threads,
        datasets=described_datasets(settings, *TUPLES),
        evaluator=deciding(settings.evaluator, FINE_TUNING),
        seed=settings.seed,
    script:
        "../scripts/evaluator/finetune.py"


rule score_captions:
    """Confidence scores of all candidate captions of a shard (section 3.3)."""
    input:
        checkpoint=rules.finetune_evaluator.output.checkpoint,
        clips=CLIPS,
        index=rules.gather_clips.output.index,
        statics=rules.caption_statics.output.captions,
        dynamics=rules.caption_dynamics.output.captions,
    output:
        scores=layout.scores,
        counts="results/{dataset}/evaluator/scores/{shard}.counts.json",
    log:
        "logs/{dataset}/score_captions/{shard}.log",
    priority: CRITICAL_PATH
    retries: tries(NEEDS["scoring_minutes"])
    conda:
        "../envs/models.yaml"
    threads: settings.evaluator.threads
    resources:
        **needs(NEEDS["scoring_mb"], minutes=NEEDS["scoring_minutes"], disk_mb=200),
        gpu=min(1, settings.evaluator.gpus),
        gpu_model=GPU_MODEL,
    params:
        code=code_of("evaluator/score_captions.py"),
        evaluator=deciding(settings.evaluator, OF_SCORES),
    script:
        "../scripts/evaluator/score_captions.py"
