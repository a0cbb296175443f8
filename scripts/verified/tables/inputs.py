"""Files of a run that tables depend on, by configuration."""

from collections.abc import Iterable
from pathlib import Path

from verified.annotations.splits import finest_captions
from verified.benchmark.vcmr.jobs import possible_runs, run_folders
from verified.config import Config
from verified.config.folders import shown_datasets
from verified.config.generation import ROLES
from verified.extension import Run, extensions
from verified.layout import Layout
from verified.tables.layout import runs
from verified.weights.wanted import role_records, text_records, video_records


def tested_runs(settings: Config, dataset: str) -> list[tuple[str, str, str]]:
    """(model, trained on, tested on) of the runs of a data set, of those that tables show."""
    return possible_runs(settings, dataset, runs(settings.retrieval.names))


def finest_submissions(settings: Config, dataset: str) -> list[str]:
    """Submissions of every training and test on the finest captions of a data set."""
    finest = finest_captions(settings, dataset)
    found = [run for run in tested_runs(settings, dataset) if run[1:] == (finest, finest)]
    return [f"{folder}/submission.json.gz" for run in found for folder in run_folders(settings, dataset, run)]


def run_files(settings: Config, name: str) -> list[str]:
    """File `name` of every retrieval run that the tables show, those of extensions last."""
    trained_models = [
        f"{folder}/{name}"
        for dataset in shown_datasets(settings)
        for run in tested_runs(settings, dataset)
        for folder in run_folders(settings, dataset, run)
    ]
    added = [run for extension in extensions() for row in extension.rows() for run in row.runs(settings)]
    return [*trained_models, *added_run_files(settings, added, name)]


def added_run_files(settings: Config, added: Iterable[Run], name: str) -> list[str]:
    """File `name` of each run of an extension."""
    layout = Layout(settings)
    return [f"{layout.path(layout.test, **run._asdict(), tested_on='fig')}/{name}" for run in added]


def shown_records(settings: Config) -> list[str]:
    """Records of the fetched models that tables name: of captions, and of features that a retrieval run read."""
    shown = shown_datasets(settings)
    tested = [name for name in shown if tested_runs(settings, name)]
    annotated = [name for name in shown if settings.datasets[name].source.annotated_here]
    records = [
        *(role_records(settings, *ROLES) if annotated else ()),
        *(video_records(settings) if any(not settings.datasets[name].source.given_features for name in tested) else ()),
        *(text_records(settings) if tested else ()),
    ]
    return sorted({*records})


def own_corpora(settings: Config) -> list[str]:
    """Shown data sets whose source is a user's folder."""
    return shown_datasets(settings, "annotated_here", "users_own")


def leading_tables(settings: Config) -> list[str]:
    """Tables on the report's front page and at the end of a run: the outcome for users' folders, then recall.

    Many-to-many captions if both are absent.
    """
    tested = any(tested_runs(settings, name) for name in shown_datasets(settings))
    return [f"corpus-{name}" for name in own_corpora(settings)] + ["main-4"] * tested or ["main-2"]


def finished_studies(settings: Config) -> list[str]:
    """Summaries of studies that people have answered, which `verified study --collect` makes."""
    layout = Layout(settings)
    summaries = (layout.path("results/{dataset}/study/summary.json", name) for name in shown_datasets(settings))
    return [path for path in summaries if Path(path).is_file()]


def validity_runs(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Folders of the runs that the validity report compares, by training captions."""
    return {
        run[1]: run_folders(settings, dataset, run)
        for run in runs(settings.retrieval.names)
        if run[0] == "xml" and run[2] == "fig"
    }
