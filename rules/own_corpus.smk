from verified.tables.inputs import own_corpora


rule tabulate_corpus:
    """Moments in and out of a user's folder, and the cost of its captions: calls, tokens, money, seconds."""
    input:
        corpus=rules.build_corpus.output.counts,
        scenes=of_dataset(
            lambda dataset: (layout.shards(layout.scene_captions) if dataset.source.proposes_moments else [])
        ),
        annotations=rules.export_annotations.output.counts,
        rows=[*layout.candidates(), *layout.shards(layout.perturbations)],
    output:
        "results/{dataset}/annotations/tables.json",
    log:
        "logs/{dataset}/tabulate_corpus.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=15),
    params:
        code=code_of("tables/tabulate_corpus.py"),
        title=title_of,
        ledger=settings.generation.ledger,
    script:
        "../scripts/tables/tabulate_corpus.py"


STAGE_TABLES += expand(rules.tabulate_corpus.output, dataset=dataset_wildcards(settings, own_corpora(settings)))
