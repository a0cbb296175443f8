"""Settings that tables depend on, besides their input files.

They are a param of `build_tables`: changing another key, such as a number of threads, does not rebuild the tables.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from verified.config import Config
from verified.config.base import Section
from verified.config.folders import shown_datasets
from verified.config.generation import ROLES
from verified.config.sources import KINDS, SourceSection
from verified.lmm.tasks.paper import prompt_set


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
    """A model that tables name, with its commit where its record has one."""

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


PAPER = {"Charades-FIG": 16128, "DiDeMo-FIG": 41091, "ActivityNet-FIG": 71656}
"""Titles of the paper's data sets, with the rows of their released files as in `config/sources.csv`."""


class Titled(Protocol):
    """A data set of a configuration, or of its tables."""

    @property
    def title(self) -> str: ...
    @property
    def source(self) -> SourceSection | type[SourceSection]: ...


def concerns_paper(datasets: Iterable[Titled]) -> bool:
    """Whether one is the paper's or the demo, so that the paper's figures stand beside the run's."""
    return any(dataset.title in PAPER or not dataset.source.comparable for dataset in datasets)


def shown_values(settings: Config) -> dict[str, Any]:
    """These settings as a param; data sets stay in the order of the configuration, as tables show them."""
    return select_shown(settings).model_dump(mode="json")


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
        models=settings.retrieval.names,
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
    )
