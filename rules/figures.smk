from verified.figures.paths import RECALLS, curves, evaluator_records, nms_threshold, shown_annotations, table_labels
from verified.report.paths import title_of


rule draw_examples:
    """Generated examples: the task, the pipeline, annotations, the evaluator's order (after Figures 1 to 4)."""
    input:
        annotations=shown_annotations(settings),
        scores=expand("results/{{dataset}}/evaluator/scores/{shard}.jsonl", shard=SHARDS),
        captions=expand("results/{{dataset}}/captions/{kind}/{shard}.jsonl", kind=("statics", "dynamics"), shard=SHARDS),
        perturbations=expand("results/{{dataset}}/perturbations/{shard}.jsonl", shard=SHARDS),
        keyframes=expand("results/{{dataset}}/keyframes/{shard}.tar", shard=SHARDS),
    output:
        task=[
            report(
                "results/{dataset}/figures/task.svg",
                caption="../report/task.rst",
                category="Figures",
                labels=labelled({"shows": "Why fine captions are needed", "as": "Figure 1"}),
            ),
            "results/{dataset}/figures/task.png",
        ],
        pipeline=[
            report(
                "results/{dataset}/figures/pipeline.svg",
                caption="../report/pipeline.rst",
                category="Figures",
                labels=labelled({"shows": "One moment through the pipeline", "as": "Figure 2"}),
            ),
            "results/{dataset}/figures/pipeline.png",
        ],
        annotations=[
            report(
                "results/{dataset}/figures/annotations.svg",
                caption="../report/annotations.rst",
                category="Figures",
                labels=labelled({"shows": "Annotations", "as": "Figure 3"}),
            ),
            "results/{dataset}/figures/annotations.png",
        ],
        evaluator=[
            report(
                "results/{dataset}/figures/evaluator.svg",
                caption="../report/evaluator.rst",
                category="Figures",
                labels=labelled({"shows": "The evaluator's order", "as": "Figure 4"}),
            ),
            "results/{dataset}/figures/evaluator.png",
        ],
    log:
        "logs/{dataset}/draw_examples.log",
    benchmark:
        "logs/{dataset}/draw_examples.tsv"
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=settings.seed,
    script:
        "../scripts/draw_examples.py"


rule draw_predictions:
    """Ranked predictions of XML trained on coarse and on fine captions for one query (Figure 5)."""
    input:
        annotations=shown_annotations(settings),
        videos="results/{dataset}/corpus/videos.jsonl",
        coarse=f"results/{{dataset}}/retrieval/xml/cog/seed-{settings.retrieval.seeds_of('xml')[0]}/fig/submission.json.gz",
        fine=f"results/{{dataset}}/retrieval/xml/fig/seed-{settings.retrieval.seeds_of('xml')[0]}/fig/submission.json.gz",
    output:
        svg=report(
            "results/{dataset}/figures/predictions.svg",
            caption="../report/predictions.rst",
            category="Figures",
            labels=labelled({"shows": "Ranked predictions", "as": "Figure 5"}),
        ),
        png="results/{dataset}/figures/predictions.png",
    log:
        "logs/{dataset}/draw_predictions.log",
    benchmark:
        "logs/{dataset}/draw_predictions.tsv"
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=settings.seed,
        nms_threshold=nms_threshold(settings),
    script:
        "../scripts/draw_predictions.py"


rule draw_training:
    """Training curves of the retrieval models, of the first seed."""
    input:
        curves(settings),
    output:
        svg=report(
            "results/{dataset}/figures/training.svg",
            caption="../report/training.rst",
            category="Figures",
            labels=labelled({"shows": "Training curves", "as": "training"}),
        ),
        png="results/{dataset}/figures/training.png",
    log:
        "logs/{dataset}/draw_training.log",
    benchmark:
        "logs/{dataset}/draw_training.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    script:
        "../scripts/draw_training.py"


rule draw_validation:
    """Scores of faithful and disturbed captions: histograms, calibration, precision over coverage."""
    input:
        validation="results/{dataset}/evaluator/validation.json",
    output:
        svg=report(
            "results/{dataset}/figures/validation.svg",
            caption="../report/validation.rst",
            category="Figures",
            labels=labelled({"shows": "Evaluator against truth", "as": "validation"}),
        ),
        png="results/{dataset}/figures/validation.png",
    log:
        "logs/{dataset}/draw_validation.log",
    benchmark:
        "logs/{dataset}/draw_validation.tsv"
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    script:
        "../scripts/draw_validation.py"


rule draw_recalls:
    """Main tables 4 to 7 as pictures with intervals."""
    input:
        tables=f"{HOME}/tables",
    output:
        svg=report(
            "results/{dataset}/figures/{table}.svg",
            caption="../report/recalls.rst",
            category="Figures",
            labels=table_labels,
        ),
        png="results/{dataset}/figures/{table}.png",
    log:
        "logs/{dataset}/draw_recalls/{table}.log",
    benchmark:
        "logs/{dataset}/draw_recalls/{table}.tsv"
    wildcard_constraints:
        table="|".join(RECALLS),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    params:
        title=title_of(settings),
    script:
        "../scripts/draw_recalls.py"


rule draw_evaluator_training:
    """Training curves of the evaluator: its pre-training, where the demo does it, and its fine-tuning."""
    input:
        evaluator_records(settings),
    output:
        svg=report(
            f"{HOME}/figures/evaluator-training.svg",
            caption="../report/evaluator-training.rst",
            category="Figures",
            labels={"data set": "all", "shows": "Evaluator training", "as": "training"},
        ),
        png=f"{HOME}/figures/evaluator-training.png",
    log:
        f"logs/{settings.name}/draw_evaluator_training.log",
    benchmark:
        f"logs/{settings.name}/draw_evaluator_training.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    script:
        "../scripts/draw_evaluator_training.py"
