"""Files of a run that tables depend on, by configuration."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from verified.benchmark.vcmr.paths import possible_runs
from verified.config import Config, outputs
from verified.config.folders import dataset_folder, dataset_values, shown_datasets
from verified.config.sources import DemoSource
from verified.extension import Run, extensions
from verified.tables.layout import runs


def run_files(settings: Config, name: str) -> list[str]:
    """File `name` of every retrieval run that the tables show, those of extensions last."""
    trained_models = [
        f"{outputs.training(dataset_folder(settings, dataset), model, trained, seed)}/{tested}/{name}"
        for dataset in shown_datasets(settings)
        for model, trained, tested in possible_runs(settings, dataset, runs(settings.retrieval.models))
        for seed in settings.retrieval.seeds_of(model)
    ]
    added = [run for extension in extensions() for run in extension.runs(settings)]
    return [*trained_models, *added_run_files(settings, added, name)]


def added_run_files(settings: Config, added: Iterable[Run], name: str) -> list[str]:
    """File `name` of each run of an extension."""
    return [
        f"{outputs.training(dataset_folder(settings, run.dataset), run.model, run.trained_on, run.seed)}/fig/{name}"
        for run in added
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
