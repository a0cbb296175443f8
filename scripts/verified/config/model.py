"""The model of a configuration without the sections of extensions, which `verified.config` adds."""

import difflib
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from verified.config.annotations import Annotations
from verified.config.base import Operational, Section
from verified.config.datasets import RESERVED, DataSet
from verified.config.evaluator import Evaluator
from verified.config.export import Export
from verified.config.features import Features
from verified.config.generation import Generation
from verified.config.names import PATTERN, check_name
from verified.config.retrieval import Retrieval
from verified.config.statistics import Statistics
from verified.config.study import Study
from verified.config.weights import Weights

Kind = TypeVar("Kind", bound=Section)


class Config(Section):
    """All settings of a run; `config_model` adds the sections of extensions."""

    name: str = Field(default="demo", pattern=PATTERN)
    """Name of this configuration: of its folder below results/, and in every table."""
    seed: int = Field(default=2024, ge=0)
    """Every random draw derives from it."""
    shards: int = Field(default=2, ge=1, le=999)
    """Parts that each data set is split into, by a stable hash of the video id."""
    video_reader: Literal["pyav", "decord"] = "pyav"
    """Library that decodes frames at given times; decord, of MP4 files and where installed: the same frames, slower."""
    longest_minutes: Annotated[int | None, Operational("limits the time that jobs request")] = Field(default=None, ge=1)
    """Longest time that a cluster gives a job, in minutes: no job requests more. null: no limit."""
    layers: Annotated[tuple[str, ...], Operational("its keys count as if written here")] = ()
    """Files that this one builds on, by paths from its folder: their keys apply unless this file sets them."""
    datasets: dict[str, DataSet] = Field(default_factory=dict)
    """Data sets by name (lower-case letters, digits and hyphens), which becomes a folder below results/NAME."""
    tables: tuple[str, ...] | None = None
    """Data sets that the tables show; null: all. The others still teach the evaluator."""
    generation: Generation = Generation()
    evaluator: Evaluator = Evaluator()
    annotations: Annotations = Annotations()
    features: Features = Features()
    retrieval: Retrieval = Retrieval()
    statistics: Statistics = Statistics()
    study: Study = Study()
    export: Export = Export()
    weights: Weights = Weights()

    @field_validator("name")
    @classmethod
    def free_name(cls, name: str) -> str:
        if use := {"tables": "shows the tables of the last run", "ledger": "holds all model calls"}.get(name):
            raise ValueError(f"results/{name} {use}; choose another name")
        return name

    @field_validator("datasets")
    @classmethod
    def folder_names(cls, datasets: dict[str, DataSet]) -> dict[str, DataSet]:
        for name in datasets:
            check_name(name, "data set name")
            if name in RESERVED or name in cls.model_fields.keys() - Config.model_fields.keys():
                raise ValueError(f"data set name {name!r} is taken by a folder of that name below results/NAME")
        return datasets

    @model_validator(mode="after")
    def check_not_empty(self) -> "Config":
        parts = [getattr(self, key) for key in self.model_fields_set]
        if not self.datasets and not any(isinstance(part, Section) and part.brings_data for part in parts):
            raise ValueError("missing key datasets")
        for name in self.tables or ():
            if name not in self.datasets:
                near = difflib.get_close_matches(name, self.datasets, n=1, cutoff=0.4)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise ValueError(f"tables: unknown data set {name!r}; {hint}known: {', '.join(self.datasets)}")
        return self

    @model_validator(mode="after")
    def backbone_of_the_corpora(self) -> "Config":
        if not self.features.video_backbone:
            rendered = all(dataset.source.rendered for dataset in self.datasets.values())
            named = {"video_backbone": "small-resnet" if rendered else "packaged"}
            object.__setattr__(self, "features", self.features.model_copy(update=named))  # sections are frozen
        return self

    def section(self, kind: type[Kind]) -> Kind:
        """The section of an extension by its model; its defaults if the configuration has none."""
        return getattr(self, section_key(type(self), kind)) or kind()

    def has(self, kind: type[Section]) -> bool:
        """Whether the configuration has a section of an extension."""
        return getattr(self, section_key(type(self), kind)) is not None


@cache
def section_key(model: type[Config], kind: type[Section]) -> str:
    """The key of a section at the top of the configuration; empty for a model of a section below it."""
    kinds: dict[Any, str] = {field.annotation: name for name, field in model.model_fields.items()}
    return kinds.get(kind) or kinds.get(kind | None, "")
