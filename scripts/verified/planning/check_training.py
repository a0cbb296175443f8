"""Compare the steps of each training with the moments that it learns from, before a run."""

from collections.abc import Iterator

from verified.benchmark.vcmr.jobs import possible_runs
from verified.config import Config
from verified.config.folders import dataset_folder, datasets_with
from verified.config.retrieval import Training
from verified.corpus.inventory import unprobed_moments
from verified.corpus.source_files import division_of
from verified.errors import InputError
from verified.stage import Finding
from verified.tables.layout import runs

EXCESS = 3
"""Multiples of the authors' epochs beyond which a fixed number of steps is too many for a corpus."""


def training_findings(settings: Config) -> Iterator[Finding]:
    """A line for each data set with the steps of its trainings; a note for a model whose steps are far too many."""
    for name in datasets_with(settings, "annotated_here"):
        if not possible_runs(settings, name, runs(settings.retrieval.names)):
            continue
        try:
            moments = _training_moments(settings, name)
        except InputError:  # other checks report it
            continue
        if moments:
            yield from _findings_of(settings, name, moments)


def _training_moments(settings: Config, name: str) -> int:
    """Number of moments to train on; their share where the videos are yet to be divided."""
    dataset, division = settings.datasets[name], division_of(settings, name)
    rows = unprobed_moments(dataset.source, f"{dataset_folder(settings, name)}/corpus")
    if division:
        return round(division["train_share"] * len(rows))
    return sum(row["split"] == dataset.spans.train_split for row in rows)


def _findings_of(settings: Config, name: str, moments: int) -> Iterator[Finding]:
    from verified.benchmark.vcmr.experiment import own_recipe
    from verified.benchmark.vcmr.registry import model_class
    from verified.benchmark.vcmr.training import steps_of_epoch

    counted = []
    for model in settings.retrieval.names:
        recipe = own_recipe(model_class(model).recipe, settings.retrieval.training.get(model, Training()))
        epoch = steps_of_epoch(moments, recipe)
        steps = recipe.steps or recipe.epochs * epoch
        counted.append(f"{model} {steps:,}")
        if steps > EXCESS * recipe.epochs * epoch:
            message = f"{steps:,} steps are {steps // epoch:,} passes over {moments} training moments of {name}"
            remedy = f"set it to {recipe.epochs * epoch:,} or less, or leave {model} out of retrieval.models"
            yield Finding("note", f"retrieval.training.{model}.steps", message, remedy)
    message = f"steps of each training on {moments:,} moments of {name}: {', '.join(counted)}"
    yield Finding("ok", "retrieval.models", message)
