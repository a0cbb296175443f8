"""What the rules of the figures read, and which figures a configuration has."""

from collections.abc import Callable

from verified.benchmark.vcmr.paths import possible_runs
from verified.config import Config, outputs
from verified.config.datasets import DataSet
from verified.config.folders import (
    dataset_folder,
    dataset_of,
    dataset_values,
    datasets_with,
    evaluator_folder,
    home,
    shown_datasets,
)
from verified.evaluator.paths import pretrains, truth_files
from verified.runtime.wildcards import key_of
from verified.tables.layout import FOLDERS, TABLES, TITLES, PaperTable, runs

EXAMPLES = ("task", "pipeline", "annotations", "evaluator")
STATISTICS = ("confidence", "spans", "clusters", "classes")
QUERIES = ("recall-curves", "recall-lengths", "positions")
RECALLS = ("main-4", "main-5", "main-6", "main-7")


def shown_annotations(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the annotations that examples are drawn from, of the test, selection and train split.

    Examples come from the first of these files that holds any (`figures.examples.first_with_rows`).
    """

    def files(wildcards) -> list[str]:
        spans = dataset_of(settings, wildcards).spans
        splits = dict.fromkeys((spans.test_split, spans.selection_split, spans.train_split))
        return [f"results/{wildcards.dataset}/annotations/fig/{split}.jsonl" for split in splits]

    return files


def tested_annotations(settings: Config) -> Callable[[object], str]:
    """An input function: the annotations of the test split, whose queries retrieval models were asked."""
    files = shown_annotations(settings)
    return lambda wildcards: files(wildcards)[0]


def truth_of(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: what is false in candidates, where that is known."""

    def files(wildcards) -> dict[str, list[str]]:
        known = truth_files(settings, key_of(wildcards.dataset))
        return {"corrupted": known["corrupted"]} if known else {}

    return files


def asked_runs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """A params function: folders of the trainings of each model trained and tested on fine captions, by its title."""

    def folders(wildcards) -> dict[str, list[str]]:
        possible = possible_runs(settings, key_of(wildcards.dataset), runs(settings.retrieval.models))
        return {
            TITLES.get(model, model): [
                f"{outputs.training(f'results/{wildcards.dataset}', model, 'fig', seed)}/fig"
                for seed in settings.retrieval.seeds_of(model)
            ]
            for model, trained, tested in possible
            if (trained, tested) == ("fig", "fig")
        }

    return folders


def asked_files(settings: Config) -> Callable[[object], list[str]]:
    """An input function: what these trainings answered, by query, and the first submission of each model."""
    folders = asked_runs(settings)

    def files(wildcards) -> list[str]:
        of = folders(wildcards).values()
        return [f"{one}/per_query.npz" for model in of for one in model] + [
            f"{model[0]}/submission.json.gz" for model in of
        ]

    return files


def curves(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the training records of the first seed, by model and training captions."""

    def files(wildcards) -> list[str]:
        possible = possible_runs(settings, key_of(wildcards.dataset), runs(settings.retrieval.models))
        trained = dict.fromkeys((model, captions) for model, captions, _ in possible)
        folder, seeds_of = f"results/{wildcards.dataset}", settings.retrieval.seeds_of
        return [
            f"{outputs.training(folder, model, captions, seeds_of(model)[0])}/log.jsonl" for model, captions in trained
        ]

    return files


def evaluator_records(settings: Config) -> list[str]:
    """Training records of the evaluator; of its pre-training only where that is part of the run."""
    stages = ["pretraining", "log"] if pretrains(settings) else ["log"]
    return [f"{evaluator_folder(settings)}/{stage}.jsonl" for stage in stages]


def table_labels(wildcards) -> dict[str, str]:
    """Labels in the report of ``wildcards.table`` as a picture."""
    return {"data set": key_of(wildcards.dataset), "shows": f"{wildcards.table} as a picture", "as": "main table"}


def nms_threshold(settings: Config) -> Callable[[object], float]:
    """A params function: the tIoU above which a prediction is suppressed."""
    return dataset_values(settings, _nms_threshold)


def _nms_threshold(dataset: DataSet) -> float:
    return dataset.spans.nms_threshold


def figures_of(settings: Config, dataset: str) -> list[str]:
    """Names of the figures of a data set, without folder and ending: those that have something to show."""
    names: list[str] = list(STATISTICS)
    if settings.datasets[dataset].source.annotated_here:
        names += [*EXAMPLES, "validation", "cost"]
    possible = set(possible_runs(settings, dataset, runs(settings.retrieval.models)))
    if possible:
        names.append("training")
    if any((trained, tested) == ("fig", "fig") for _, trained, tested in possible):
        names += QUERIES
    names += [table.key for table in TABLES if table.key in RECALLS and _shows(table, possible)]
    if settings.datasets[dataset].source.annotated_here and {("xml", "cog", "fig"), ("xml", "fig", "fig")} <= possible:
        names.append("predictions")
    return names


def figure_files(settings: Config) -> list[str]:
    """The figures of all data sets that the report shows, and the evaluator's training where there is one."""
    files = [
        f"{dataset_folder(settings, name)}/figures/{figure}.svg"
        for name in shown_datasets(settings)
        for figure in figures_of(settings, name)
    ]
    if datasets_with(settings, "annotated_here"):
        files.append(f"{home(settings)}/figures/evaluator-training.svg")
    return files


def _shows(table: PaperTable, possible: set[tuple[str, str, str]]) -> bool:
    """Whether a table of methods has one, or one that compares trainings has them all."""
    if table.stubs == ("Method",):
        return any((trained, tested) == ("fig", "fig") for _, trained, tested in possible)
    needed = {(_MODELS[method], FOLDERS[train], FOLDERS[test]) for method, train, test in table.runs}
    return needed <= possible


_MODELS = {title: name for name, title in TITLES.items()}
