"""The figures of a configuration, and the inputs of some."""

from verified.config import Config
from verified.config.folders import datasets_with, home, shown_datasets
from verified.layout import Layout
from verified.tables.inputs import tested_runs

EXAMPLES = ("task", "pipeline", "annotations", "evaluator")
STATISTICS = ("confidence", "spans", "clusters", "classes")


def figures_of(settings: Config, dataset: str) -> list[str]:
    """Names of the figures of a data set, without folder and ending: those that have something to show."""
    names: list[str] = list(STATISTICS)
    if settings.datasets[dataset].source.annotated_here:
        names += [*EXAMPLES, "validation"]
    possible = set(tested_runs(settings, dataset))
    if possible:
        names.append("training")
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
    """Training records of the first seed, by model and training captions."""
    layout, seeds_of = Layout(settings), settings.retrieval.seeds_of
    trained = dict.fromkeys(run[:2] for run in tested_runs(settings, dataset))
    return [
        f"{layout.path(layout.training, dataset, model=model, trained_on=captions, seed=seeds_of(model)[0])}/log.jsonl"
        for model, captions in trained
    ]


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
