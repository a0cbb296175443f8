from verified.annotations.paths import compared_candidates
from verified.audit.paths import audit_inputs, audit_limits, audit_submissions, test_split
from verified.config import outputs
from verified.people.pages import page_digest
from verified.people.paths import page_folders, review_warning
from verified.report.paths import title_of


rule audit:
    """Pages on which people confirm or mend what the audit found, for every data set that is annotated here."""
    input:
        page_folders(settings, "audit"),


rule audit_annotations:
    """Queries that are not unique in their video, spans in doubt, and videos in two splits."""
    input:
        unpack(audit_inputs(settings)),
        embeddings=rules.embed_captions.output[0],
    output:
        findings="results/{dataset}/audit/findings.jsonl",
        summary="results/{dataset}/audit/summary.json",
    log:
        "logs/{dataset}/audit_annotations.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("audit/audit_annotations.py"),
        audit=audit_limits(settings),
        test_split=test_split(settings),
    script:
        "../scripts/audit/audit_annotations.py"


rule measure_audit:
    """How many of the demo's spans, made false on purpose, the audit finds."""
    input:
        annotations=annotation_files(settings, "fig"),
        submissions=audit_submissions(settings),
    output:
        recovery="results/{dataset}/audit/recovery.json",
    log:
        "logs/{dataset}/measure_audit.log",
    wildcard_constraints:
        dataset=datasets("has_truth"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("audit/measure_audit.py"),
        audit=audit_limits(settings),
        test_split=test_split(settings),
        seed=settings.seed,
    script:
        "../scripts/audit/measure_audit.py"


rule prepare_audit:
    """Pages of the moments with findings; decisions on them go where those of the review go."""
    input:
        findings=rules.audit_annotations.output.findings,
        moments="results/{dataset}/corpus/moments.jsonl",
        videos=rules.build_corpus.output.videos,
        scores=outputs.scores("results/{dataset}", settings.shards),
        similarities=compared_candidates(settings),
    output:
        pages=directory("results/{dataset}/audit/pages"),
    log:
        "logs/{dataset}/prepare_audit.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
    params:
        code=code_of("audit/prepare.py"),
        review=settings.review.model_dump(mode="json"),
        lint=settings.annotations.lint.model_dump(),
        title=title_of(settings),
        warning=review_warning(settings),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
        page=page_digest("review"),
    script:
        "../scripts/audit/prepare.py"
