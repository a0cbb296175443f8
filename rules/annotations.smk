from verified.annotations.export import generation_facts
from verified.annotations.paths import annotated_splits, annotation_files, card_facts, compared_candidates
from verified.annotations.paths import selection_files, review_outcomes
from verified.config import outputs
from verified.weights.wanted import agreement_records


rule compare_candidates:
    """How close candidates are to their coarse captions, where the sentence encoder chooses (`annotations.choose_by`)."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
        weights=sentence_records(settings),
    output:
        "results/{dataset}/annotations/similarities.jsonl",
    log:
        "logs/{dataset}/compare_candidates.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/models.yaml"
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(120),
    params:
        code=code_of("annotations/compare_candidates.py"),
        sentence_encoder=settings.generation.sentence_encoder,
        revision=settings.generation.sentence_revision,
        threads=settings.generation.threads,
    script:
        "../scripts/annotations/compare_candidates.py"


rule measure_agreement:
    """How far candidates agree with one another, with keyframes and coarse captions (`annotations.choose_by`)."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
        keyframes=outputs.keyframes("results/{dataset}", settings.shards),
        weights=agreement_records(settings),
    output:
        "results/{dataset}/annotations/agreement.jsonl",
    log:
        "logs/{dataset}/measure_agreement.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/models.yaml"
    threads: settings.generation.threads
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
    params:
        code=code_of("annotations/measure_agreement.py"),
        sentence_encoder=settings.generation.sentence_encoder,
        revision=settings.generation.sentence_revision,
        joint_encoder=settings.annotations.joint_encoder,
        joint_revision=settings.annotations.joint_revision,
        threads=settings.generation.threads,
    script:
        "../scripts/annotations/measure_agreement.py"


rule choose_annotations:
    """The caption of the highest and of the lowest confidence for each moment of a split (section 3.3, Table 7)."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
        similarities=compared_candidates(settings),
        review=review_outcomes(settings),
    output:
        fig="results/{dataset}/annotations/fig/{split}.jsonl",
        lowest="results/{dataset}/annotations/fig-lowest/{split}.jsonl",
        selection="results/{dataset}/annotations/selection/{split}.json",
    log:
        "logs/{dataset}/choose_annotations/{split}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    priority: CRITICAL_PATH
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("annotations/choose.py"),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
        selection=settings.annotations.model_dump(
            include={"min_score", "min_quantile", "min_precision", "best", "otherwise"}
        ),
    script:
        "../scripts/annotations/choose.py"


rule export_annotations:
    """All candidates with their lineage as parquet, counts that reconcile, and the dataset card."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
        similarities=compared_candidates(settings),
        statics=expand("results/{{dataset}}/captions/statics/{shard}.jsonl", shard=SHARDS),
        dynamics=expand("results/{{dataset}}/captions/dynamics/{shard}.jsonl", shard=SHARDS),
        fig=annotation_files(settings, "fig"),
        lowest=annotation_files(settings, "fig-lowest"),
        selections=selection_files(settings),
    output:
        candidates="results/{dataset}/annotations/candidates.parquet",
        counts="results/{dataset}/annotations/counts.json",
        card="results/{dataset}/annotations/README.md",
    log:
        "logs/{dataset}/export_annotations.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(30),
    params:
        code=code_of("annotations/export.py"),
        about=card_facts(settings),
        generation=generation_facts(settings),
        splits=annotated_splits(settings),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
    script:
        "../scripts/annotations/export.py"


rule lint_annotations:
    """Everything in the annotations that a reader would stumble over; errors in our own annotations stop the run."""
    input:
        annotations=annotation_files(settings, "fig"),
    output:
        "results/{dataset}/annotations/lint.json",
    log:
        "logs/{dataset}/lint_annotations.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(15),
    params:
        code=code_of("annotations/lint.py"),
        settings=settings.annotations.model_dump(mode="json"),
        annotated_here=dataset_values(settings, lambda dataset: dataset.source.annotated_here),
    script:
        "../scripts/annotations/lint.py"
