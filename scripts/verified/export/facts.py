"""What cards of annotations state of a data set, and what the rule of the exports reads and is given."""

from verified.annotations.export import generation_facts
from verified.annotations.splits import annotation_files, annotation_splits
from verified.config import Config
from verified.config.folders import shown_datasets
from verified.config.trust import confidence_warning
from verified.layout import Layout


def card_facts(settings: Config, dataset: str) -> dict:
    """Origin of a data set for its card (title, licence, configuration, models by role)."""
    generation = settings.generation
    return {
        "name": dataset,
        "title": settings.datasets[dataset].title,
        "licence": settings.annotations.licence,
        "config": settings.name,
        "chosen_by": settings.annotations.choose_by,
        "warning": confidence_warning(settings, dataset),
        "models": {
            "Language model": generation.llm.model,
            "Image model": generation.image_lmm.model,
            "Video model": generation.video_lmm.model,
            "Evaluator": settings.evaluator.name,
        },
    }


def export_inputs(settings: Config, dataset: str, form: str) -> dict[str, list[str]]:
    """Annotations of a data set; videos and keyframes where the form holds media."""
    layout = Layout(settings)
    files = {"annotations": annotation_files(settings, dataset)}
    if settings.export.clean:
        files["findings"] = [layout.path("results/{dataset}/audit/findings.jsonl", dataset)]
    if has_media(settings, dataset, form):
        files["videos"] = [layout.path(layout.videos, dataset)]
        files["keyframes"] = layout.shards(layout.keyframes, dataset)
    return files


def has_media(settings: Config, dataset: str, form: str) -> bool:
    """Whether the folder of a form gets media: asked for, possible, and a place for them."""
    here = settings.datasets[dataset].source.annotated_here
    return settings.export.media and here and form == "webdataset"


def export_facts(settings: Config, dataset: str, form: str) -> dict:
    """What every card states, the splits, and how the form is cut into files."""
    card, generation, export = card_facts(settings, dataset), generation_facts(settings), settings.export
    source = settings.datasets[dataset].source
    about = {
        **card,
        "version": export.version,
        "creators": list(export.creators),
        "url": export.url,
        "statements": export.statements.model_dump(exclude_none=True),
        "source": source.origin.format(name=dataset),
        "models": card["models"] if source.annotated_here else {},
        "prompts": {"name": generation["prompts"], "sha256": generation["prompts_sha256"]}
        if source.annotated_here
        else None,
    }
    cutting = {"shard_captions": export.shard_captions, "clip_side": export.clip_side}
    return {
        "about": about,
        "splits": annotation_splits(settings, dataset),
        **(cutting if form == "webdataset" else {}),
        "media": has_media(settings, dataset, form),
        "reviewer_names": export.reviewer_names,
    }


def export_folders(settings: Config, forms: tuple[str, ...] = ()) -> list[str]:
    """The folders of all exports of a configuration, or of some forms."""
    layout = Layout(settings)
    return [
        layout.path(layout.export, name, form=form)
        for name in shown_datasets(settings)
        for form in forms or settings.export.forms
    ]
