"""What the rules of the report read, by the kind of source of a data set."""

from collections.abc import Callable
from types import SimpleNamespace

from verified.annotations.paths import annotation_files, release_of
from verified.config import Config, outputs
from verified.config.folders import dataset_folder, dataset_of, dataset_values, dataset_wildcard, shown_datasets
from verified.config.trust import confidence_warning
from verified.runtime.wildcards import key_of


def browser_inputs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: the files behind the caption browser of ``wildcards.dataset``."""
    annotations = annotation_files(settings, "fig")

    def inputs(wildcards) -> dict[str, list[str]]:
        if release_of(settings, key_of(wildcards.dataset)):
            return {"annotations": annotations(wildcards)}
        folder, shards = f"results/{wildcards.dataset}", settings.shards
        return {
            "annotations": annotations(wildcards),
            "moments": [outputs.moments(folder)],
            "scores": outputs.scores(folder, shards),
            "captions": outputs.candidates(folder, shards),
            "keyframes": outputs.keyframes(folder, shards),
        }

    return inputs


def browser_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: title, origin and kind of ``wildcards.dataset``, and where the ledger is."""

    def facts(wildcards) -> dict:
        dataset = dataset_of(settings, wildcards)
        return {
            "title": dataset.title,
            "origin": f"Configuration {settings.name}, seed {settings.seed}; source: {dataset.source.kind}.",
            "released": not dataset.source.annotated_here,
            "ledger": settings.generation.ledger,
            "chosen_by": settings.annotations.choose_by,
            "warning": confidence_warning(settings, key_of(wildcards.dataset)),
        }

    return facts


def title_of(settings: Config) -> Callable[[object], str]:
    """A params function: the title of ``wildcards.dataset``."""
    return dataset_values(settings, lambda dataset: dataset.title)


KINDS = {
    "demo": "rendered by the workflow itself",
    "folder": "a folder of videos",
    "released": "published annotations",
}
"""Kinds of sources in words; others by their own name."""


def front_corpora(settings: Config) -> list[dict]:
    """What the front page reads of each shown data set: title, kind, annotations, the split tested, keyframes."""
    annotations = annotation_files(settings, "fig")
    corpora = []
    for name in shown_datasets(settings):
        dataset, folder = settings.datasets[name], dataset_folder(settings, name)
        of = SimpleNamespace(dataset=dataset_wildcard(settings, name))
        corpora.append(
            {
                "title": dataset.title,
                "kind": KINDS.get(dataset.source.kind, dataset.source.kind),
                "annotations": list(annotations(of)),
                "tested": dataset.spans.test_split,
                "keyframes": outputs.keyframes(folder, settings.shards) if dataset.source.annotated_here else [],
            }
        )
    return corpora


def front_files(settings: Config) -> list[str]:
    """Those annotations and keyframes."""
    return [path for corpus in front_corpora(settings) for path in (*corpus["annotations"], *corpus["keyframes"])]


def caption_models(settings: Config) -> dict[str, str]:
    """Who wrote captions, by role; nobody where all annotations are published."""
    if not shown_datasets(settings, "annotated_here"):
        return {}
    return {role: getattr(settings.generation, role).model for role in ("llm", "image_lmm", "video_lmm")}
