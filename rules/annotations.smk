def annotation_splits(wildcards):
    """Splits that have annotations, each once, in the order train, selection, test."""
    spans = settings.datasets[wildcards.dataset].spans
    return list(
        dict.fromkeys([spans.train_split, spans.selection_split, spans.test_split])
    )


def annotation_files(kind):
    """An input function: the FIG JSONL files of all splits, from annotations/`kind`."""

    def files(wildcards):
        return expand(
            "results/{dataset}/annotations/{kind}/{split}.jsonl",
            dataset=wildcards.dataset,
            kind=kind,
            split=annotation_splits(wildcards),
        )

    return files


def annotation_card(wildcards):
    """What the dataset card says about origin: title, licence, configuration, models by role."""
    generation = settings.generation
    return {
        "name": wildcards.dataset,
        "title": settings.datasets[wildcards.dataset].title,
        "licence": settings.annotations.licence,
        "config": settings.name,
        "models": {
            "Language model": generation.llm.model,
            "Image model": generation.image_lmm.model,
            "Video model": generation.video_lmm.model,
            "Evaluator": settings.evaluator.name,
        },
    }


rule choose_annotations:
    """The caption of the highest and of the lowest confidence for each moment of a split (section 3.3, Table 7)."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=expand(
            "results/{{dataset}}/evaluator/scores/{shard}.jsonl", shard=SHARDS
        ),
    output:
        fig="results/{dataset}/annotations/fig/{split}.jsonl",
        lowest="results/{dataset}/annotations/fig-lowest/{split}.jsonl",
    log:
        "logs/{dataset}/choose_annotations/{split}.log",
    benchmark:
        "logs/{dataset}/choose_annotations/{split}.tsv"
    conda:
        "../envs/annotations.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=code_digest("annotations.choose", "common.fig", "common.jsonl"),
    script:
        "../scripts/choose_annotations.py"


rule export_annotations:
    """All candidates with their lineage as parquet, counts that reconcile, and the dataset card."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=expand(
            "results/{{dataset}}/evaluator/scores/{shard}.jsonl", shard=SHARDS
        ),
        fig=annotation_files("fig"),
        lowest=annotation_files("fig-lowest"),
    output:
        candidates="results/{dataset}/annotations/candidates.parquet",
        counts="results/{dataset}/annotations/counts.json",
        card="results/{dataset}/annotations/README.md",
    log:
        "logs/{dataset}/export_annotations.log",
    benchmark:
        "logs/{dataset}/export_annotations.tsv"
    conda:
        "../envs/annotations.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        about=annotation_card,
        splits=annotation_splits,
        code=code_digest(
            "annotations.choose", "annotations.export", "common.fig", "common.jsonl"
        ),
    script:
        "../scripts/export_annotations.py"
