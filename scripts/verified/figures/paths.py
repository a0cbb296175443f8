"""What the rules of the figures read, and which figures a configuration has."""

from collections.abc import Callable

from verified.config import Config
from verified.config.folders import dataset_of, evaluator_folder
from verified.tables.layout import runs

EXAMPLES = ("task", "pipeline", "annotations", "evaluator")
STATISTICS = ("confidence", "spans", "clusters")
RECALLS = ("main-4", "main-5", "main-6", "main-7")


def shown_annotations(settings: Config) -> Callable[[object], str]:
    """An input function: the annotations of the test split, which examples are drawn from."""

    def path(wildcards) -> str:
        split = dataset_of(settings, wildcards).spans.test_split
        return f"results/{wildcards.dataset}/annotations/fig/{split}.jsonl"

    return path


def curves(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the training records of the first seed, by model and training captions."""
    trained = dict.fromkeys((model, captions) for model, captions, _ in runs(settings.retrieval.models))

    def files(wildcards) -> list[str]:
        folder = f"results/{wildcards.dataset}/retrieval"
        return [
            f"{folder}/{model}/{captions}/seed-{settings.retrieval.seeds_of(model)[0]}/log.jsonl"
            for model, captions in trained
        ]

    return files


def evaluator_records(settings: Config) -> list[str]:
    """Training records of the evaluator; an imported checkpoint has no pre-training of ours."""
    stages = ["log"] if settings.evaluator.checkpoint else ["pretraining", "log"]
    return [f"{evaluator_folder(settings)}/{stage}.jsonl" for stage in stages]


def figures_of(settings: Config, dataset: str) -> list[str]:
    """Names of the figures of a data set, without folder and ending."""
    annotated_here = settings.datasets[dataset].source.annotated_here
    models = settings.retrieval.models
    names = list(STATISTICS)
    if annotated_here:
        names += [*EXAMPLES, "validation"]
    if models:
        names += ["training", *RECALLS]
    if "xml" in models and annotated_here:
        names.append("predictions")
    return names
