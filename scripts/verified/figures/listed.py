"""The figures of a configuration, and the inputs of those of annotations and queries."""

from verified.config import Config
from verified.config.folders import datasets_with, home, shown_datasets
from verified.layout import Layout
from verified.tables.inputs import fine_runs, tested_runs
from verified.tables.layout import TITLES

EXAMPLES = ("task", "pipeline", "annotations", "evaluator")
STATISTICS = ("confidence", "spans", "clusters", "classes")
QUERIES = ("recall-curves", "recall-lengths", "positions")


def figures_of(settings: Config, dataset: str) -> list[str]:
    """Names of the figures of a data set, without folder and ending: those that have something to show."""
    names: list[str] = list(STATISTICS)
    if settings.datasets[dataset].source.annotated_here:
        names += [*EXAMPLES, "validation"]
    possible = set(tested_runs(settings, dataset))
    if possible:
        names.append("training")
    if any((trained, tested) == ("fig", "fig") for _, trained, tested in possible):
        names += QUERIES
    if settings.datasets[dataset].source.annotated_here and {("xml", "cog", "fig"), ("xml", "fig", "fig")} <= possible:
        names.append("predictions")
    return names


def shown_annotations(settings: Config, dataset: str) -> list[str]:
    """The annotations for examples, of the test, selection and train split.

    Examples come from the first non-empty file (`figures.examples.first_with_rows`).
    """
    layout, spans = Layout(settings), settings.datasets[dataset].spans
    splits = dict.fromkeys((spans.test_split, spans.selection_split, spans.train_split))
    return [layout.path(layout.annotations, dataset, kind="fig", split=split) for split in splits]


def training_records(settings: Config, dataset: str) -> list[str]:
    """Of the first seed, by model and training captions."""
    layout, seeds_of = Layout(settings), settings.retrieval.seeds_of
    trained = dict.fromkeys(run[:2] for run in tested_runs(settings, dataset))
    return [
        f"{layout.path(layout.training, dataset, model=model, trained_on=captions, seed=seeds_of(model)[0])}/log.jsonl"
        for model, captions in trained
    ]


def test_folders(settings: Config, dataset: str) -> dict[str, list[str]]:
    """Folders of the tests of each model trained and tested on fine captions, by its title."""
    return {TITLES.get(model, model): folders for model, folders in fine_runs(settings, dataset).items()}


def answer_paths(settings: Config, dataset: str) -> list[str]:
    """Answers of trainings on fine captions, by query, and the first submission of each model."""
    of = test_folders(settings, dataset).values()
    queries = [f"{folder}/per_query.npz" for folders in of for folder in folders]
    return queries + [f"{folders[0]}/submission.json.gz" for folders in of]


def figure_files(settings: Config) -> list[str]:
    """The figures of all data sets that the report shows, and the evaluator's training if there is one."""
    layout = Layout(settings)
    files = [
        layout.path(layout.figure, name, figure=figure)
        for name in shown_datasets(settings)
        for figure in figures_of(settings, name)
    ]
    if datasets_with(settings, "annotated_here"):
        files.append(f"{home(settings)}/figures/evaluator-training.svg")
    return files
