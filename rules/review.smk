from verified.config.folders import dataset_wildcards, datasets_with
from verified.annotations.paths import compared_candidates
from verified.config import outputs
from verified.people.pages import page_digest
from verified.report.paths import title_of
from verified.people.paths import page_folders, review_warning


rule review:
    """Pages on which people review captions, for every data set that is annotated here."""
    input:
        page_folders(settings, "review"),


rule prepare_review:
    """Review pages: each moment with its clip, its candidates and their scores; decisions are saved from the page."""
    input:
        moments="results/{dataset}/corpus/moments.jsonl",
        videos=rules.build_corpus.output.videos,
        scores=outputs.scores("results/{dataset}", settings.shards),
        similarities=compared_candidates(settings),
    output:
        pages=directory("results/{dataset}/review/pages"),
    log:
        "logs/{dataset}/prepare_review.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(4000),
        runtime=minutes(240),
    params:
        code=code_of("review/prepare.py"),
        review=settings.review.model_dump(mode="json"),
        lint=settings.annotations.lint.model_dump(),
        title=title_of(settings),
        warning=review_warning(settings),
        choose_by=settings.annotations.choose_by,
        seed=settings.seed,
        page=page_digest("review"),
    script:
        "../scripts/review/prepare.py"


rule adjudicate_review:
    """What reviewers' decisions come to, what became of each, and how far reviewers agree."""
    input:
        review=list(settings.annotations.review),
        moments="results/{dataset}/corpus/moments.jsonl",
        scores=outputs.scores("results/{dataset}", settings.shards),
    output:
        outcomes="results/{dataset}/annotations/review/settled.json",
        tables="results/{dataset}/annotations/review/tables.json",
    log:
        "logs/{dataset}/adjudicate_review.log",
    wildcard_constraints:
        dataset=datasets("annotated_here"),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=scale_by_attempt(2000),
        runtime=minutes(15),
    params:
        code=code_of("review/adjudicate.py"),
        datasets=list(settings.datasets),
        lint=settings.annotations.lint.model_dump(),
        title=title_of(settings),
    script:
        "../scripts/review/adjudicate.py"


if settings.annotations.review:
    STAGE_TABLES += expand(
        rules.adjudicate_review.output.tables,
        dataset=dataset_wildcards(settings, datasets_with(settings, "annotated_here")),
    )
