"""Content of the report's pages for each data set, by the kind of its source."""

from verified.annotations.splits import annotation_files, release_of
from verified.config import Config
from verified.config.folders import shown_datasets
from verified.config.trust import confidence_warning
from verified.layout import Layout

CHOSEN_BY = {
    "confidence": "that of the highest confidence",
    "agreement": "the one that agrees most with the other candidates, the keyframes and the coarse caption",
    "random": "one at random",
}
ANNOTATED = (
    "Of each moment's candidates, {} became its caption; scores are the evaluator's confidence and may be wrong. "
    "`verified show` and a moment's number print the facts, prompts and models behind them."
)
RELEASED = "Published annotations hold one caption a moment, and no videos or prompts."


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


def browser_facts(settings: Config, dataset: str) -> dict[str, str]:
    """Head and foot of the caption browser."""
    source = settings.datasets[dataset].source
    return {
        "title": f"Captions of {settings.datasets[dataset].title}",
        "about": ANNOTATED.format(CHOSEN_BY[settings.annotations.choose_by]) if source.annotated_here else RELEASED,
        "warning": confidence_warning(settings, dataset),
        "foot": f"Configuration {settings.name}, seed {settings.seed}; source: {source.kind}.",
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
