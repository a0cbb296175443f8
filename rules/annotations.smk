from verified.annotations.export import generation_facts
from verified.annotations.selection import CHOICE
from verified.annotations.splits import annotation_files, annotation_splits
from verified.export.facts import card_facts
from verified.weights.wanted import agreement_records

AGREEMENT = ["results/{dataset}/annotations/agreement.jsonl"] if settings.annotations.choose_by == "agreement" else []


rule measure_agreement:
    """Agreement of candidates with one another, with keyframes and coarse captions (`annotations.choose_by`)."""
    input:
        moments=layout.moments,
        scores=layout.shards(layout.scores),
        keyframes=layout.shards(layout.keyframes),
        weights=agreement_records(settings),
    output:
        "results/{dataset}/annotations/agreement.jsonl",
    log:
        "logs/{dataset}/measure_agreement.log",
    conda:
        "../envs/models.yaml"
    threads: settings.generation.threads
    resources:
        **needs(4000, minutes=240),
    params:
        code=code_of("annotations/measure_agreement.py"),
        sentences=settings.generation.sentence_model,
        joint=settings.annotations.joint_model,
        threads=settings.generation.threads,
    script:
        "../scripts/annotations/measure_agreement.py"


rule list_coarse_captions:
    """All moments of a split with their coarse captions, which no candidate changes."""
    input:
        moments=layout.moments,
    output:
        annotations="results/{dataset}/annotations/cog/{split}.jsonl",
    log:
        "logs/{dataset}/list_coarse_captions/{split}.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    priority: CRITICAL_PATH
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("annotations/list_coarse.py"),
    script:
        "../scripts/annotations/list_coarse.py"


rule choose_annotations:
    """The caption of the highest and of the lowest confidence for each moment of a split (section 3.3, Table 7)."""
    input:
        moments=layout.moments,
        scores=layout.shards(layout.scores),
        agreement=AGREEMENT,
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
        **needs(2000, minutes=30),
    params:
        code=code_of("annotations/choose.py"),
        seed=settings.seed,
        annotations=deciding(settings.annotations, CHOICE),
    script:
        "../scripts/annotations/choose.py"


rule export_annotations:
    """All candidates with their lineage as parquet, counts that reconcile, and the dataset card."""
    input:
        moments=layout.moments,
        scores=layout.shards(layout.scores),
        agreement=AGREEMENT,
        outcomes=rules.sum_outcomes.output.outcomes,
        statics=layout.shards(layout.statics),
        dynamics=layout.shards(layout.dynamics),
        fig=of_key(annotation_files),
        lowest=of_key(annotation_files, "fig-lowest"),
        selections=of_key(
            lambda *known: expand(
                rules.choose_annotations.output.selection, split=annotation_splits(*known), allow_missing=True
            )
        ),
    output:
        candidates="results/{dataset}/annotations/candidates.parquet",
        counts="results/{dataset}/annotations/counts.json",
        card="results/{dataset}/annotations/README.md",
    log:
        "logs/{dataset}/export_annotations.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(4000, minutes=30),
    params:
        code=code_of("annotations/export.py"),
        about=of_key(card_facts),
        generation=generation_facts(settings),
        splits=of_key(annotation_splits),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
    script:
        "../scripts/annotations/export.py"


rule lint_annotations:
    """Lint findings of the annotations; errors in our own annotations stop the run."""
    input:
        annotations=of_key(annotation_files),
    output:
        "results/{dataset}/annotations/lint.json",
    log:
        "logs/{dataset}/lint_annotations.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("annotations/lint.py"),
        lint=deciding(settings.annotations.lint),
        annotated_here=of_dataset(lambda dataset: dataset.source.annotated_here),
    script:
        "../scripts/annotations/lint.py"
