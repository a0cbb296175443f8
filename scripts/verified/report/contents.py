"""Content of the report's pages for each data set, by the kind of its source."""

from verified.annotations.splits import annotation_files, release_of
from verified.config import Config
from verified.config.folders import shown_datasets
from verified.config.trust import confidence_warning
from verified.layout import Layout


def browser_inputs(settings: Config, dataset: str) -> dict[str, list[str]]:
    """The files behind the caption browser."""
    layout, annotations = Layout(settings), annotation_files(settings, dataset)
    if release_of(settings, dataset):
        return {"annotations": annotations}
    return {
        "annotations": annotations,
        "moments": [layout.path(layout.moments, dataset)],
        "scores": layout.shards(layout.scores, dataset),
        "captions": layout.candidates(dataset),
        "keyframes": layout.shards(layout.keyframes, dataset),
    }


def browser_facts(settings: Config, dataset: str) -> dict:
    """Title, origin and kind of a data set, and where the ledger is."""
    source = settings.datasets[dataset].source
    return {
        "title": settings.datasets[dataset].title,
        "origin": f"Configuration {settings.name}, seed {settings.seed}; source: {source.kind}.",
        "released": not source.annotated_here,
        "ledger": settings.generation.ledger,
        "chosen_by": settings.annotations.choose_by,
        "warning": confidence_warning(settings, dataset),
    }


KINDS = {
    "demo": "rendered by the workflow itself",
    "folder": "a folder of videos",
    "released": "published annotations",
}
"""Kinds of sources in words; others have their own name."""


def front_corpora(settings: Config) -> list[dict]:
    """Inputs of the front page for each shown data set: title, kind, annotations, the split tested, keyframes."""
    layout, corpora = Layout(settings), []
    for name in shown_datasets(settings):
        dataset = settings.datasets[name]
        corpora.append(
            {
                "title": dataset.title,
                "kind": KINDS.get(dataset.source.kind, dataset.source.kind),
                "annotations": annotation_files(settings, name),
                "tested": dataset.spans.test_split,
                "keyframes": layout.shards(layout.keyframes, name) if dataset.source.annotated_here else [],
            }
        )
    return corpora


def caption_models(settings: Config) -> dict[str, str]:
    """Models that wrote captions, by role; empty if all annotations are published."""
    if not shown_datasets(settings, "annotated_here"):
        return {}
    return {role: getattr(settings.generation, role).model for role in ("llm", "image_lmm", "video_lmm")}
