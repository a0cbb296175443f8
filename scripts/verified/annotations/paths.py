"""Where the annotations of a data set are, for the rules that read them."""

from collections.abc import Callable

from verified.config import Config


def annotation_splits(settings: Config, dataset: str) -> list[str]:
    """Splits of `dataset` that have annotations, each once, in the order train, selection, test."""
    spans = settings.datasets[dataset].spans
    return list(dict.fromkeys([spans.train_split, spans.selection_split, spans.test_split]))


def annotation_files(settings: Config, kind: str) -> Callable[[object], list[str]]:
    """An input function: the JSONL files of all splits of ``wildcards.dataset`` in ``annotations/kind``."""

    def files(wildcards) -> list[str]:
        splits = annotation_splits(settings, wildcards.dataset)
        return [f"results/{wildcards.dataset}/annotations/{kind}/{split}.jsonl" for split in splits]

    return files


def annotated_splits(settings: Config) -> Callable[[object], list[str]]:
    """A params function: `annotation_splits` of ``wildcards.dataset``."""

    def splits(wildcards) -> list[str]:
        return annotation_splits(settings, wildcards.dataset)

    return splits


def card_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: what the dataset card says about origin (title, licence, configuration, models by role)."""

    def facts(wildcards) -> dict:
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

    return facts
