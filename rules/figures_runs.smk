from verified.figures.paths import (
    RECALLS,
    asked_files,
    asked_runs,
    curves,
    evaluator_records,
    figure_files,
    table_labels,
    tested_annotations,
)
from verified.report.paths import title_of


rule draw_training:
    """Training curves of the retrieval models, of the first seed."""
    input:
        curves(settings),
    output:
        svg=report(
            "results/{dataset}/figures/training.svg",
            caption="../report/training.rst",
            category="Figures",
            labels=dataset_labels({"shows": "Training curves", "as": "training"}),
        ),
        png="results/{dataset}/figures/training.png",
        csv="results/{dataset}/figures/training.csv",
    log:
        "logs/{dataset}/draw_training.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_training.py"),
    script:
        "../scripts/figures/draw_training.py"


rule draw_validation:
    """Scores of faithful and perturbed captions: histograms, calibration, precision over coverage."""
    input:
        validation=rules.validate_evaluator.output.validation,
    output:
        svg=report(
            "results/{dataset}/figures/validation.svg",
            caption="../report/validation.rst",
            category="Figures",
            labels=dataset_labels({"shows": "Evaluator against truth", "as": "validation"}),
        ),
        png="results/{dataset}/figures/validation.png",
        csv="results/{dataset}/figures/validation.csv",
    log:
        "logs/{dataset}/draw_validation.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_validation.py"),
    script:
        "../scripts/figures/draw_validation.py"


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
        csv="results/{dataset}/figures/{table}.csv",
    log:
        "logs/{dataset}/draw_recalls/{table}.log",
    wildcard_constraints:
        table="|".join(RECALLS),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_recalls.py"),
        title=title_of(settings),
    script:
        "../scripts/figures/draw_recalls.py"


rule draw_queries:
    """Recall over K, by length of moments and queries, and where predicted spans lie, of models trained on fine captions."""
    input:
        asked_files(settings),
        annotations=tested_annotations(settings),
    output:
        curves=[
            report(
                "results/{dataset}/figures/recall-curves.svg",
                caption="../report/queries.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Recall over K", "as": "queries"}),
            ),
            "results/{dataset}/figures/recall-curves.png",
            "results/{dataset}/figures/recall-curves.csv",
        ],
        lengths=[
            report(
                "results/{dataset}/figures/recall-lengths.svg",
                caption="../report/queries.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Recall by length", "as": "queries"}),
            ),
            "results/{dataset}/figures/recall-lengths.png",
            "results/{dataset}/figures/recall-lengths.csv",
        ],
        positions=[
            report(
                "results/{dataset}/figures/positions.svg",
                caption="../report/queries.rst",
                category="Figures",
                labels=dataset_labels({"shows": "Predicted and true position", "as": "queries"}),
            ),
            "results/{dataset}/figures/positions.png",
            "results/{dataset}/figures/positions.csv",
        ],
    log:
        "logs/{dataset}/draw_queries.log",
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_queries.py"),
        runs=asked_runs(settings),
    script:
        "../scripts/figures/draw_queries.py"


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
        csv=f"{HOME}/figures/evaluator-training.csv",
    log:
        f"logs/{settings.name}/draw_evaluator_training.log",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(1000),
        runtime=minutes(15),
    params:
        code=code_of("figures/draw_evaluator_training.py"),
    script:
        "../scripts/figures/draw_evaluator_training.py"


REPORT_FILES += figure_files(settings)
