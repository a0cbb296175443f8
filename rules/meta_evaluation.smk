from verified.config import outputs
from verified.lmm.tasks.retrieval import GRADE
from verified.people.meta_evaluation.paths import judged_by
from verified.weights.wanted import agreement_records


rule judge_captions:
    """Captions that people, or the demo's truth, judge, with the evaluator's score and the grade of the video LMM."""
    input:
        unpack(judged_by(settings)),
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
        videos=expand("results/{{dataset}}/corpus/shards/{shard}.videos.jsonl", shard=SHARDS),
        prompts=ASKING.prompts(GRADE),
        weights=role_records(settings, "video_lmm"),
        cassettes=ASKING.cassettes("video_lmm"),
    output:
        judged="results/{dataset}/evaluator/judged.jsonl",
        counts="results/{dataset}/evaluator/judged.counts.json",
    log:
        "logs/{dataset}/judge_captions.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
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
        code=code_of("evaluator/judge_captions.py"),
        threads=settings.generation.threads,
        engines=ASKING.engine_code("video_lmm"),
        generation=ASKING.values(GRADE),
        section=deciding(settings.meta_evaluation),
        asked_in=asked_in_of("results/{dataset}/evaluator/judged.counts.json"),
        seed=settings.seed,
    script:
        "../scripts/evaluator/judge_captions.py"


rule meta_evaluate:
    """How far the evaluator, a cosine, agreement and the video LMM go with what is known of captions."""
    input:
        judged=rules.judge_captions.output.judged,
        agreement=rules.measure_agreement.output[0],
        videos=expand("results/{{dataset}}/corpus/shards/{shard}.videos.jsonl", shard=SHARDS),
        weights=agreement_records(settings),
    output:
        meta_evaluation="results/{dataset}/evaluator/meta_evaluation.json",
    log:
        "logs/{dataset}/meta_evaluate.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/models.yaml"
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
    params:
        code=code_of("evaluator/meta_evaluate.py"),
        judge=settings.generation.video_lmm.model,
        joint_encoder=settings.annotations.joint_encoder,
        joint_revision=settings.annotations.joint_revision,
        threads=settings.generation.threads,
        resamples=settings.retrieval.resamples,
        seed=settings.seed,
    script:
        "../scripts/evaluator/meta_evaluate.py"
