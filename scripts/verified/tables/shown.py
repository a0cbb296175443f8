"""Settings that tables depend on, besides their input files.

They are a param of `build_tables`: changing another key, such as a number of threads, does not rebuild the tables.
"""

from collections.abc import Iterable
from typing import Any

from verified.config import Config
from verified.config.annotations import Annotations
from verified.config.base import Section
from verified.config.datasets import DataSet
from verified.config.evaluator import Evaluator
from verified.config.features import Features
from verified.config.folders import shown_datasets
from verified.config.generation import ROLES, Generation
from verified.config.params import deciding
from verified.config.retrieval import Retrieval
from verified.config.sources import KINDS, SourceSection
from verified.lmm.tasks.paper import prompt_set


class ShownDataSet(Section):
    """A data set that the tables show."""

    title: str
    kind: str
    """Kind of its source."""
    selection_split: str
    given_features: bool
    """Whether its features come with it, by encoders that no one here ran."""

    @property
    def source(self) -> type[SourceSection]:
        """Abilities of its kind of source."""
        return KINDS[self.kind]


class Shown(Section):
    """A configuration as its tables show it."""

    name: str
    seed: int
    datasets: dict[str, ShownDataSet]
    """Data sets by key, in the order of the configuration."""
    retrieval: Retrieval
    features: Features
    generation: Generation
    """Its roles."""
    evaluator: Evaluator
    annotations: Annotations
    prompts: dict[str, str]
    """Name and digest of the prompt files."""


PAPER = {"Charades-FIG": 16128, "DiDeMo-FIG": 41091, "ActivityNet-FIG": 71656}
"""Titles of the paper's data sets, with the rows of their released files as in `config/sources.csv`."""


def concerns_paper(datasets: Iterable[DataSet | ShownDataSet]) -> bool:
    """Whether one is the paper's or the demo, so that the paper's figures stand beside the run's."""
    return any(dataset.title in PAPER or not dataset.source.comparable for dataset in datasets)


def shown_values(settings: Config) -> dict[str, Any]:
    """The values of `Shown`, for a param; reads the prompt files for their digest.

    Data sets stay in the order of the configuration, as tables show them.
    """
    datasets = {name: settings.datasets[name] for name in shown_datasets(settings)}
    answering = ("cassette", "engine", "model", "revision")
    encoders = ("text_encoder", "text_revision", "video_backbone", "video_revision")
    return {
        "name": settings.name,
        "seed": settings.seed,
        "datasets": {
            name: {
                "title": of.title,
                "kind": of.source.kind,
                "selection_split": of.spans.selection_split,
                "given_features": of.source.given_features is not None,
            }
            for name, of in datasets.items()
        },
        "retrieval": deciding(settings.retrieval, ("models",)),
        "features": deciding(settings.features, encoders),
        "generation": {role: deciding(getattr(settings.generation, role), answering) for role in ROLES},
        "evaluator": deciding(settings.evaluator, ("checkpoint", "hard_negatives", "name", "size", "umt_file")),
        "annotations": deciding(settings.annotations, ("choose_by",)),
        "prompts": prompt_set(settings.generation.prompts),
    }
