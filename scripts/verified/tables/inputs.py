"""What tables depend on, by configuration: settings, and files of a run.

The settings are a param of `build_tables`: another key may change, such as a number of threads, and the tables stay as
they are.
"""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from verified.benchmark.vcmr.paths import follow_ups, possible_runs, ranked_by_vectors
from verified.config import Config, outputs
from verified.config.base import Section
from verified.config.folders import dataset_folder, dataset_values, shown_datasets
from verified.config.generation import ROLES
from verified.config.sources import KINDS, DemoSource, SourceSection
from verified.lmm.tasks.paper import prompt_set
from verified.tables.layout import runs


class ShownDataSet(Section):
    """A data set that the tables show."""

    title: str
    kind: str
    """Kind of its source."""
    selection_split: str

    @property
    def source(self) -> type[SourceSection]:
        """Abilities of its kind of source."""
        return KINDS[self.kind]


class ShownModel(Section):
    """A model that tables name, with its commit where the lock file has one."""

    model: str
    revision: str


class ShownRole(ShownModel):
    """The model of a role of text generation, and who answered for it."""

    engine: str
    cassette: str | None


class ShownEvaluator(Section):
    """The noise evaluator, as tables describe it."""

    name: str
    size: str
    hard_negatives: str
    imported: str | None


class Shown(Section):
    """A configuration as its tables show it."""

    name: str
    seed: int
    datasets: dict[str, ShownDataSet]
    """Data sets by key, in the order of the configuration."""
    models: tuple[str, ...]
    """Retrieval models."""
    video_backbone: ShownModel
    text_encoder: ShownModel
    roles: dict[str, ShownRole]
    prompts: dict[str, str]
    """Name and digest of the prompt files."""
    evaluator: ShownEvaluator
    choose_by: str
    lock: str
    """The file that pins models to commits."""


def select_shown(settings: Config) -> Shown:
    """Select the settings that tables depend on; reads the prompt files for their digest."""
    features, generation, evaluator = settings.features, settings.generation, settings.evaluator
    datasets = {name: settings.datasets[name] for name in shown_datasets(settings)}
    roles = {role: getattr(generation, role) for role in ROLES}
    return Shown(
        name=settings.name,
        seed=settings.seed,
        datasets={
            name: ShownDataSet(
                title=dataset.title, kind=dataset.source.kind, selection_split=dataset.spans.selection_split
            )
            for name, dataset in datasets.items()
        },
        models=settings.retrieval.models,
        video_backbone=ShownModel(model=features.video_backbone, revision=features.video_revision),
        text_encoder=ShownModel(model=features.text_encoder, revision=features.text_revision),
        roles={
            name: ShownRole(model=role.model, revision=role.revision, engine=role.engine, cassette=role.cassette)
            for name, role in roles.items()
        },
        prompts=prompt_set(generation.prompts),
        evaluator=ShownEvaluator(
            name=evaluator.name,
            size=evaluator.size,
            hard_negatives=evaluator.hard_negatives,
            imported=evaluator.imported,
        ),
        choose_by=settings.annotations.choose_by,
        lock=settings.weights.lock,
    )


def run_files(settings: Config, name: str) -> list[str]:
    """File `name` of every retrieval run that the tables show, of vectors, and of what a video LMM makes of both."""
    trained_models = [
        f"{outputs.training(dataset_folder(settings, dataset), model, trained, seed)}/{tested}/{name}"
        for dataset in shown_datasets(settings)
        for model, trained, tested in possible_runs(settings, dataset, runs(settings.retrieval.models))
        for seed in settings.retrieval.seeds_of(model)
    ]
    dense = shown_datasets(settings, "has_videos") if settings.retrieval.dense else []
    return [
        *trained_models,
        *(f"{ranked_by_vectors(dataset_folder(settings, dataset), 'fig')}/{name}" for dataset in dense),
        *follow_up_files(settings, name),
    ]


def follow_up_files(settings: Config, name: str) -> list[str]:
    """File `name` of all that a video LMM makes of first stages."""
    return [
        f"{outputs.training(dataset_folder(settings, dataset), model, trained, seed)}/fig/{name}"
        for dataset in shown_datasets(settings, "has_videos")
        for model, trained, seeds in follow_ups(settings)
        for seed in seeds
    ]


def own_corpora(settings: Config) -> list[str]:
    """Shown data sets whose source is a user's folder."""
    return shown_datasets(settings, "annotated_here", "users_own")


def leading_tables(settings: Config) -> list[str]:
    """Tables that the report's front page and the end of a run show: the outcome for users' folders, then recall.

    Many-to-many captions where there is neither.
    """
    wanted = runs(settings.retrieval.models)
    tested = any(possible_runs(settings, name, wanted) for name in shown_datasets(settings))
    return [f"corpus-{name}" for name in own_corpora(settings)] + ["main-4"] * tested or ["main-2"]


def finished_studies(settings: Config) -> Callable[[object], list[str]]:
    """An input function: summaries of studies that people have answered, which `verified answers` makes."""

    def files(wildcards) -> list[str]:
        summaries = (f"{dataset_folder(settings, dataset)}/study/summary.json" for dataset in shown_datasets(settings))
        return [path for path in summaries if Path(path).is_file()]

    return files


def validity_runs(settings: Config) -> dict[str, list[str]]:
    """Folders of the runs that the validity report compares, by training captions; ``{dataset}`` is to be filled in."""
    return {
        trained: [
            f"{outputs.training('results/{dataset}', 'xml', trained, seed)}/fig"
            for seed in settings.retrieval.seeds_of(model)
        ]
        for model, trained, tested in runs(settings.retrieval.models)
        if model == "xml" and tested == "fig"
    }


def validity_folders(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """A params function: the same folders of one data set."""

    def folders(wildcards) -> dict[str, list[str]]:
        return {
            trained: [folder.format(dataset=wildcards.dataset) for folder in seeds]
            for trained, seeds in validity_runs(settings).items()
        }

    return folders


def demo_segments(settings: Config) -> Callable[[object], int]:
    """A params function: keyframes per moment at most."""
    return dataset_values(settings, lambda dataset: dataset.keyframes.segments)


def demo_fps(settings: Config) -> Callable[[object], int]:
    """A params function: the frame rate that the demo was rendered with."""
    return dataset_values(settings, lambda dataset: cast(DemoSource, dataset.source).fps)
