"""What the rules of the report read, by the kind of source of a data set."""

from collections.abc import Callable

from verified.annotations.paths import annotation_files, release_of
from verified.benchmark.mad.paths import figure_files as film_figures
from verified.config import Config, outputs
from verified.config.folders import dataset_folder, dataset_of, dataset_values, datasets_with, home, shown_datasets
from verified.config.trust import confidence_warning
from verified.figures.paths import figures_of
from verified.runtime.folders import key_of


def browser_inputs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function: the files behind the caption browser of ``wildcards.dataset``."""
    annotations = annotation_files(settings, "fig")

    def inputs(wildcards) -> dict[str, list[str]]:
        if release_of(settings, key_of(wildcards.dataset)):
            return {"annotations": annotations(wildcards)}
        folder, shards = f"results/{wildcards.dataset}", settings.shards
        return {
            "annotations": annotations(wildcards),
            "moments": [outputs.moments(folder)],
            "scores": outputs.scores(folder, shards),
            "captions": outputs.candidates(folder, shards),
            "keyframes": outputs.keyframes(folder, shards),
        }

    return inputs


def browser_facts(settings: Config) -> Callable[[object], dict]:
    """A params function: title, origin and kind of ``wildcards.dataset``, and where the ledger is."""

    def facts(wildcards) -> dict:
        dataset = dataset_of(settings, wildcards)
        return {
            "title": dataset.title,
            "origin": f"Configuration {settings.name}, seed {settings.seed}; source: {dataset.source.kind}.",
            "released": not dataset.source.annotated_here,
            "ledger": settings.generation.ledger,
            "chosen_by": settings.annotations.choose_by,
            "warning": confidence_warning(settings, key_of(wildcards.dataset)),
        }

    return facts


def title_of(settings: Config) -> Callable[[object], str]:
    """A params function: the title of ``wildcards.dataset``."""
    return dataset_values(settings, lambda dataset: dataset.title)


def report_files(settings: Config) -> list[str]:
    """Every file that the report shows: tables, summary, and each data set's figures and captions."""
    files = [f"{home(settings)}/{path}" for path in ("tables", "report/summary.html", "report/verdicts.html")]
    for name in shown_datasets(settings):
        folder = dataset_folder(settings, name)
        files.append(f"{folder}/report/captions.html")
        files += [f"{folder}/figures/{figure}.svg" for figure in figures_of(settings, name)]
    if datasets_with(settings, "annotated_here"):
        files.append(f"{home(settings)}/figures/evaluator-training.svg")
    return files + film_figures(settings)
