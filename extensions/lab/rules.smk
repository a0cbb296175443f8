from verified.config.folders import dataset_wildcards, datasets_with
from verified.lmm.tasks.retrieval import GRADE
from verified.people.pages import page_digest
from verified.weights.wanted import agreement_records
from verified.config.trust import confidence_warning
from verified.tables.inputs import fine_submissions
from verified_lab.config import Audit, MetaEvaluation, Review
from verified_lab.pages import REVIEW

AUDIT = (settings.section(Audit) or Audit()).model_dump(mode="json")


rule review:
    """Pages on which people review captions, for every data set that is annotated here."""
    input:
        page_folders("review"),


rule prepare_review:
    """Review pages: each moment with its clip, its candidates and their scores; decisions are saved from the page."""
    input:
        moments=layout.moments,
        videos=rules.build_corpus.output.videos,
        scores=layout.shards(layout.scores),
        similarities=COMPARED,
    output:
        pages=directory("results/{dataset}/review/pages"),
    log:
        "logs/{dataset}/prepare_review.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(4000, minutes=240),
    params:
        code=code_of("extensions/lab/scripts/prepare_pages.py"),
        review=settings.section(Review).model_dump(mode="json"),
        lint=settings.annotations.lint.model_dump(),
        title=title_of,
        warning=of_key(confidence_warning),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
        page=page_digest(REVIEW),
    script:
        "scripts/prepare_pages.py"


rule audit:
    """Pages on which people confirm or mend what the audit found, for every data set that is annotated here."""
    input:
        page_folders("audit"),


rule audit_annotations:
    """Queries that are not unique in their video, spans in doubt, and videos in two splits."""
    input:
        annotations=of_key(annotation_files),
        submissions=of_key(fine_submissions),
        hashes=of_dataset(lambda dataset: layout.shards(layout.hashes) if dataset.source.annotated_here else []),
        embeddings=rules.embed_captions.output[0],
    output:
        findings="results/{dataset}/audit/findings.jsonl",
        summary="results/{dataset}/audit/summary.json",
    log:
        "logs/{dataset}/audit_annotations.log",
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("extensions/lab/scripts/audit_annotations.py"),
        audit=AUDIT,
        test_split=of_dataset(lambda dataset: dataset.spans.test_split),
    script:
        "scripts/audit_annotations.py"


rule measure_audit:
    """How many of the demo's spans, made false on purpose, the audit finds."""
    input:
        annotations=of_key(annotation_files),
        submissions=of_key(fine_submissions),
    output:
        recovery="results/{dataset}/audit/recovery.json",
    log:
        "logs/{dataset}/measure_audit.log",
    wildcard_constraints:
        dataset=datasets("has_truth"),
    conda:
        "../../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("extensions/lab/scripts/measure_audit.py"),
        audit=AUDIT,
        test_split=of_dataset(lambda dataset: dataset.spans.test_split),
        seed=settings.seed,
    script:
        "scripts/measure_audit.py"


# Pages of the moments with findings; decisions on them go where those of the review go.
use rule prepare_review as prepare_audit with:
    input:
        findings=rules.audit_annotations.output.findings,
        moments=layout.moments,
        videos=rules.build_corpus.output.videos,
        scores=layout.shards(layout.scores),
        similarities=COMPARED,
    output:
        pages=directory("results/{dataset}/audit/pages"),
    log:
        "logs/{dataset}/prepare_audit.log",


if settings.has(MetaEvaluation):

    rule judge_captions:
        """Captions that people, or the demo's truth, judge, with the evaluator's score and the grade of the video LMM."""
        input:
            **asking_inputs([GRADE], "video_lmm"),
            truth=of_dataset(lambda dataset: [layout.truth] if dataset.source.has_truth else []),
            corrupted=of_dataset(lambda dataset: layout.shards(layout.corrupted) if dataset.source.has_truth else []),
            review=of_dataset(lambda dataset: [] if dataset.source.has_truth else list(settings.annotations.review)),
            moments=layout.moments,
            scores=layout.shards(layout.scores),
            videos=layout.shards(layout.shard_videos),
        output:
            judged="results/{dataset}/evaluator/judged.jsonl",
            counts="results/{dataset}/evaluator/judged.counts.json",
        log:
            "logs/{dataset}/judge_captions.log",
        wildcard_constraints:
            dataset=datasets("annotated_here"),
        retries: tries(1440)
        conda:
            f"../{ASKING.environment('video_lmm')}"
        threads: settings.generation.threads
        resources:
            **asking_needs("video_lmm", mb=4000, minutes=1440, gpu_minutes=1440),
        params:
            code=code_of("extensions/lab/scripts/judge_captions.py"),
            threads=settings.generation.threads,
            engines=ASKING.engine_code("video_lmm"),
            generation=ASKING.values(GRADE),
            section=deciding(settings.section(MetaEvaluation)),
            asked_in=asked_in_of("results/{dataset}/evaluator/judged.counts.json"),
            seed=settings.seed,
        script:
            "scripts/judge_captions.py"

    rule meta_evaluate:
        """How far the evaluator, a cosine, agreement and the video LMM go with what is known of captions."""
        input:
            judged=rules.judge_captions.output.judged,
            agreement=rules.measure_agreement.output[0],
            videos=layout.shards(layout.shard_videos),
            weights=agreement_records(settings),
        output:
            meta_evaluation="results/{dataset}/evaluator/meta_evaluation.json",
        log:
            "logs/{dataset}/meta_evaluate.log",
        wildcard_constraints:
            dataset=datasets("annotated_here"),
        conda:
            "../../envs/models.yaml"
        threads: settings.generation.threads
        resources:
            **needs(4000, minutes=240),
        params:
            code=code_of("extensions/lab/scripts/meta_evaluate.py"),
            judge=settings.generation.video_lmm.model,
            joint_encoder=settings.annotations.joint_encoder,
            joint_revision=settings.annotations.joint_revision,
            threads=settings.generation.threads,
            resamples=settings.retrieval.resamples,
            seed=settings.seed,
        script:
            "scripts/meta_evaluate.py"
