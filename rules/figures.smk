from verified.figures.listed import figure_files, shown_annotations, training_records

TESTED = of_dataset(lambda dataset: f"results/{{dataset}}/annotations/fig/{dataset.spans.test_split}.jsonl")
XML_SEED = settings.retrieval.seeds_of("xml")[0]


rule draw_examples:
    """Generated examples: the task, the pipeline, annotations, the evaluator's order (after Figures 1 to 4)."""
    input:
        annotations=of_key(shown_annotations),
        scores=layout.shards(layout.scores),
        captions=layout.candidates(),
        perturbations=layout.shards(layout.perturbations),
        keyframes=layout.shards(layout.keyframes),
    output:
        task=figure("task", "Why fine captions are needed", "Figure 1"),
        pipeline=figure("pipeline", "One moment through the pipeline", "Figure 2"),
        annotations=figure("annotations", "Annotations", "Figure 3"),
        evaluator=figure("evaluator", "The evaluator's order", "Figure 4"),
    log:
        "logs/{dataset}/draw_examples.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("figures/draw_examples.py"),
        seed=settings.seed,
    script:
        "../scripts/figures/draw_examples.py"


rule draw_predictions:
    """Ranked predictions of XML trained on coarse and on fine captions for one query (Figure 5)."""
    input:
        annotations=TESTED,
        videos=rules.build_corpus.output.videos,
        coarse=f"results/{{dataset}}/retrieval/xml/cog/seed-{XML_SEED}/fig/submission.json.gz",
        fine=f"results/{{dataset}}/retrieval/xml/fig/seed-{XML_SEED}/fig/submission.json.gz",
    output:
        figure("predictions", "Ranked predictions", "Figure 5"),
    log:
        "logs/{dataset}/draw_predictions.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(2000, minutes=30),
    params:
        code=code_of("figures/draw_predictions.py"),
        seed=settings.seed,
        nms_threshold=of_dataset(lambda dataset: dataset.spans.nms_threshold),
    script:
        "../scripts/figures/draw_predictions.py"


rule draw_statistics:
    """Pictures of scores, spans and clusters (supplement Figures 4 and 5)."""
    input:
        confidence=rules.summarise_annotations.output.confidence,
        spans=rules.summarise_annotations.output.spans,
        clusters=rules.project_clusters.output[0],
        classes="results/{dataset}/statistics/many_to_many.json",
    output:
        confidence=figure("confidence", "Confidence scores", "supplement figure 4"),
        spans=figure("spans", "Spans", "spans"),
        clusters=figure("clusters", "Clusters", "supplement figure 5"),
        classes=figure("classes", "Largest classes of coarse captions", "clusters"),
    log:
        "logs/{dataset}/draw_statistics.log",
    conda:
        "../envs/models.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("figures/draw_statistics.py"),
    script:
        "../scripts/figures/draw_statistics.py"


rule draw_training:
    """Training curves of the retrieval models, of the first seed."""
    input:
        of_key(training_records),
    output:
        figure("training", "Training curves", "training"),
    log:
        "logs/{dataset}/draw_training.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("figures/draw_training.py"),
    script:
        "../scripts/figures/draw_training.py"


rule draw_validation:
    """Scores of faithful and perturbed captions: histograms, calibration, precision over coverage."""
    input:
        validation=rules.validate_evaluator.output.validation,
    output:
        figure("validation", "Evaluator against truth", "validation"),
    log:
        "logs/{dataset}/draw_validation.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("figures/draw_validation.py"),
    script:
        "../scripts/figures/draw_validation.py"


rule draw_evaluator_training:
    """Training curves of the evaluator."""
    input:
        rules.finetune_evaluator.output.record,
    output:
        figure("evaluator-training", "Evaluator training", "training", home=HOME),
    log:
        f"logs/{settings.name}/draw_evaluator_training.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs(1000, minutes=15),
    params:
        code=code_of("figures/draw_evaluator_training.py"),
    script:
        "../scripts/figures/draw_evaluator_training.py"


REPORT_FILES += figure_files(settings)
