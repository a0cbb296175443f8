"""Facts of a data set for its cards, and inputs and params of the rule of exports."""

from collections.abc import Iterable

from verified.annotations.export import generation_facts
from verified.annotations.splits import annotation_files, annotation_splits
from verified.config import Config
from verified.config.folders import shown_datasets
from verified.config.trust import confidence_warning
from verified.errors import InputError
from verified.export.forms import FORMS
from verified.extension import added_stages
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
    """Annotations of a data set, findings about them, and other files that the form reads.

    Raises InputError for a clean export if no stage looks for doubtful annotations.
    """
    files = {"annotations": annotation_files(settings, dataset)}
    if settings.datasets[dataset].source.annotated_here:
        files["outcomes"] = [Layout(settings).path("results/{dataset}/captions/outcomes.json", dataset)]
    if settings.export.clean:
        files["findings"] = [path for stage in added_stages() for path in stage.doubtful(settings, dataset)]
        if not files["findings"]:
            raise InputError("export.clean: nothing here looks for doubtful annotations", remedy="set it to false")
    return {**files, **FORMS[form].inputs(settings, dataset)}


def export_facts(settings: Config, dataset: str, form: str) -> dict:
    """Facts for the card, the splits, and the options of the form."""
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
    return {
        "about": about,
        "splits": annotation_splits(settings, dataset),
        "options": FORMS[form].options(settings, dataset),
        "reviewer_names": export.reviewer_names,
    }


def export_folders(settings: Config, forms: Iterable[str]) -> list[str]:
    """The folders of these forms of every data set that the configuration shows."""
    layout = Layout(settings)
    return [layout.path(layout.export, name, form=form) for name in shown_datasets(settings) for form in forms]
