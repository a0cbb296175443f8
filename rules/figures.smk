from verified.corpus.source_files import datasets_of
from verified.figures.paths import curves, evaluator_records, shown_annotations
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
                "results/figures/{dataset}/task.svg",
                caption="../report/task.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Why fine captions are needed", "as": "Figure 1"},
            ),
            "results/figures/{dataset}/task.png",
        ],
        pipeline=[
            report(
                "results/figures/{dataset}/pipeline.svg",
                caption="../report/pipeline.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "One moment through the pipeline", "as": "Figure 2"},
            ),
            "results/figures/{dataset}/pipeline.png",
        ],
        annotations=[
            report(
                "results/figures/{dataset}/annotations.svg",
                caption="../report/annotations.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Annotations", "as": "Figure 3"},
            ),
            "results/figures/{dataset}/annotations.png",
        ],
        evaluator=[
            report(
                "results/figures/{dataset}/evaluator.svg",
                caption="../report/evaluator.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "The evaluator's order", "as": "Figure 4"},
            ),
            "results/figures/{dataset}/evaluator.png",
        ],
    log:
        "logs/{dataset}/draw_examples.log",
    benchmark:
        "logs/{dataset}/draw_examples.tsv"
    wildcard_constraints:
        dataset=datasets_of(settings, "demo", "folder"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=settings.seed,
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_examples.py"


rule draw_predictions:
    """Ranked predictions of XML trained on coarse and on fine captions for one query (Figure 5)."""
    input:
        annotations=shown_annotations(settings),
        videos="results/{dataset}/corpus/videos.jsonl",
        coarse=f"results/{{dataset}}/retrieval/xml/cog/seed-{settings.retrieval.seeds[0]}/fig/submission.json.gz",
        fine=f"results/{{dataset}}/retrieval/xml/fig/seed-{settings.retrieval.seeds[0]}/fig/submission.json.gz",
    output:
        svg=report(
            "results/figures/{dataset}/predictions.svg",
            caption="../report/predictions.rst",
            category="Figures",
            labels={"data set": "{dataset}", "shows": "Ranked predictions", "as": "Figure 5"},
        ),
        png="results/figures/{dataset}/predictions.png",
    log:
        "logs/{dataset}/draw_predictions.log",
    benchmark:
        "logs/{dataset}/draw_predictions.tsv"
    wildcard_constraints:
        dataset=datasets_of(settings, "demo", "folder"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=settings.seed,
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_predictions.py"


rule draw_training:
    """Training curves of the retrieval models, of the first seed."""
    input:
        curves(settings),
    output:
        svg=report(
            "results/figures/{dataset}/training.svg",
            caption="../report/training.rst",
            category="Figures",
            labels={"data set": "{dataset}", "shows": "Training curves", "as": "training"},
        ),
        png="results/figures/{dataset}/training.png",
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
    params:
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_training.py"


rule draw_validation:
    """Scores of faithful and disturbed captions: histograms, calibration, precision over coverage."""
    input:
        validation="results/{dataset}/evaluator/validation.json",
    output:
        svg=report(
            "results/figures/{dataset}/validation.svg",
            caption="../report/validation.rst",
            category="Figures",
            labels={"data set": "{dataset}", "shows": "Evaluator against truth", "as": "validation"},
        ),
        png="results/figures/{dataset}/validation.png",
    log:
        "logs/{dataset}/draw_validation.log",
    benchmark:
        "logs/{dataset}/draw_validation.tsv"
    wildcard_constraints:
        dataset=datasets_of(settings, "demo", "folder"),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    params:
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_validation.py"


rule draw_recalls:
    """Main tables 4 to 7 as pictures with intervals."""
    input:
        tables="results/tables",
    output:
        main_4=[
            report(
                "results/figures/{dataset}/main-4.svg",
                caption="../report/main-4.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Table 4 as a picture", "as": "main table 4"},
            ),
            "results/figures/{dataset}/main-4.png",
        ],
        main_5=[
            report(
                "results/figures/{dataset}/main-5.svg",
                caption="../report/main-5.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Table 5 as a picture", "as": "main table 5"},
            ),
            "results/figures/{dataset}/main-5.png",
        ],
        main_6=[
            report(
                "results/figures/{dataset}/main-6.svg",
                caption="../report/main-6.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Table 6 as a picture", "as": "main table 6"},
            ),
            "results/figures/{dataset}/main-6.png",
        ],
        main_7=[
            report(
                "results/figures/{dataset}/main-7.svg",
                caption="../report/main-7.rst",
                category="Figures",
                labels={"data set": "{dataset}", "shows": "Table 7 as a picture", "as": "main table 7"},
            ),
            "results/figures/{dataset}/main-7.png",
        ],
    log:
        "logs/{dataset}/draw_recalls.log",
    benchmark:
        "logs/{dataset}/draw_recalls.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    params:
        title=title_of(settings),
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_recalls.py"


rule draw_evaluator_training:
    """Training curves of the evaluator: its pre-training, where the demo does it, and its fine-tuning."""
    input:
        evaluator_records(settings),
    output:
        svg=report(
            "results/figures/evaluator/{name}.svg",
            caption="../report/evaluator-training.rst",
            category="Figures",
            labels={"data set": "all", "shows": "Evaluator training", "as": "training"},
        ),
        png="results/figures/evaluator/{name}.png",
    log:
        "logs/evaluator/{name}/draw_evaluator_training.log",
    benchmark:
        "logs/evaluator/{name}/draw_evaluator_training.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(15),
    params:
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_evaluator_training.py"
