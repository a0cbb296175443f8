from verified.config import outputs
from verified.figures.paths import nms_threshold, shown_annotations, tested_annotations, truth_of
from verified.report.paths import title_of


rule draw_examples:
    """Generated examples: the task, the pipeline, annotations, the evaluator's order (after Figures 1 to 4)."""
    input:
        annotations=shown_annotations(settings),
        scores=outputs.scores("results/{dataset}", settings.shards),
        captions=outputs.candidates("results/{dataset}", settings.shards),
        perturbations=outputs.perturbations("results/{dataset}", settings.shards),
        keyframes=outputs.keyframes("results/{dataset}", settings.shards),
    output:
        task=[
            report(
                "results/{dataset}/figures/task.svg",
                caption="../report/task.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Why fine captions are needed", "as": "Figure 1"}),
            ),
            "results/{dataset}/figures/task.png",
            "results/{dataset}/figures/task.csv",
        ],
        pipeline=[
            report(
                "results/{dataset}/figures/pipeline.svg",
                caption="../report/pipeline.rst",
                category="Figures",
                labels=dataset_labels({"shows": "One moment through the pipeline", "as": "Figure 2"}),
            ),
            "results/{dataset}/figures/pipeline.png",
            "results/{dataset}/figures/pipeline.csv",
        ],
        annotations=[
            report(
                "results/{dataset}/figures/annotations.svg",
                caption="../report/annotations.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Annotations", "as": "Figure 3"}),
            ),
            "results/{dataset}/figures/annotations.png",
            "results/{dataset}/figures/annotations.csv",
        ],
        evaluator=[
            report(
                "results/{dataset}/figures/evaluator.svg",
                caption="../report/evaluator.rst",
                category="Figures",
                labels=dataset_labels({"shows": "The evaluator's order", "as": "Figure 4"}),
            ),
            "results/{dataset}/figures/evaluator.png",
            "results/{dataset}/figures/evaluator.csv",
        ],
    log:
        "logs/{dataset}/draw_examples.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("figures/draw_examples.py"),
        seed=settings.seed,
    script:
        "../scripts/figures/draw_examples.py"


rule draw_cost:
    """What more candidates of a moment buy: the score of the chosen one, and how often it is false, where that is known."""
    input:
        unpack(truth_of(settings)),
        scores=outputs.scores("results/{dataset}", settings.shards),
        outcomes=rules.sum_outcomes.output.outcomes,
    output:
        svg=report(
            "results/{dataset}/figures/cost.svg",
            caption="../report/cost.rst",
            category="Figures",
            labels=dataset_labels({"shows": "Cost against quality", "as": "annotations"}),
        ),
        png="results/{dataset}/figures/cost.png",
        csv="results/{dataset}/figures/cost.csv",
    log:
        "logs/{dataset}/draw_cost.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_cost.py"),
    script:
        "../scripts/figures/draw_cost.py"


rule draw_predictions:
    """Ranked predictions of XML trained on coarse and on fine captions for one query (Figure 5)."""
    input:
        annotations=tested_annotations(settings),
        videos=rules.build_corpus.output.videos,
        coarse=f"results/{{dataset}}/retrieval/xml/cog/seed-{settings.retrieval.seeds_of('xml')[0]}/fig/submission.json.gz",
        fine=f"results/{{dataset}}/retrieval/xml/fig/seed-{settings.retrieval.seeds_of('xml')[0]}/fig/submission.json.gz",
    output:
        svg=report(
            "results/{dataset}/figures/predictions.svg",
            caption="../report/predictions.rst",
            category="Figures",
            labels=dataset_labels({"shows": "Ranked predictions", "as": "Figure 5"}),
        ),
        png="results/{dataset}/figures/predictions.png",
        csv="results/{dataset}/figures/predictions.csv",
    log:
        "logs/{dataset}/draw_predictions.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(30),
    params:
        code=code_of("figures/draw_predictions.py"),
        seed=settings.seed,
        nms_threshold=nms_threshold(settings),
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
        confidence=[
            report(
                "results/{dataset}/figures/confidence.svg",
                caption="../report/confidence.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Confidence scores", "as": "supplement figure 4"}),
            ),
            "results/{dataset}/figures/confidence.png",
            "results/{dataset}/figures/confidence.csv",
        ],
        spans=[
            report(
                "results/{dataset}/figures/spans.svg",
                caption="../report/spans.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Spans", "as": "spans"}),
            ),
            "results/{dataset}/figures/spans.png",
            "results/{dataset}/figures/spans.csv",
        ],
        clusters=[
            report(
                "results/{dataset}/figures/clusters.svg",
                caption="../report/clusters.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Clusters", "as": "supplement figure 5"}),
            ),
            "results/{dataset}/figures/clusters.png",
            "results/{dataset}/figures/clusters.csv",
        ],
        classes=[
            report(
                "results/{dataset}/figures/classes.svg",
                caption="../report/classes.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Largest classes of coarse captions", "as": "clusters"}),
            ),
            "results/{dataset}/figures/classes.png",
            "results/{dataset}/figures/classes.csv",
        ],
    log:
        "logs/{dataset}/draw_statistics.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_statistics.py"),
    script:
        "../scripts/figures/draw_statistics.py"
