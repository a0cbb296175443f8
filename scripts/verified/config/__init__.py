"""The configuration as one model, from which the schema and the documentation are generated."""

import difflib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, create_model, field_validator, model_validator
from pydantic_core import ErrorDetails

from verified.config.annotations import Annotations
from verified.config.base import Operational, Section
from verified.config.datasets import RESERVED, DataSet
from verified.config.evaluator import Evaluator
from verified.config.export import Export
from verified.config.features import Features
from verified.config.generation import Generation
from verified.config.json_schema import properties_at
from verified.config.layers import merge_layers
from verified.config.names import PATTERN, check_name
from verified.config.retrieval import Retrieval
from verified.config.statistics import Statistics
from verified.config.study import Study
from verified.config.weights import Weights
from verified.errors import InputError
from verified.extension import extensions
from verified.io.characters import hidden
from verified.io.jsonl import is_array, is_object
from verified.runtime.secrets import is_secret, keep_secret, redact

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
            if name in {*RESERVED, *(key for extension in extensions() for key in extension.sections)}:
                raise ValueError(f"data set name {name!r} is taken by a folder of that name below results/NAME")
        return datasets

    @model_validator(mode="after")
    def check_not_empty(self) -> "Config":
        alone = {key for extension in extensions() if extension.stands_alone for key in extension.sections}
        if not self.datasets and not alone & self.model_fields_set:
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

    @model_validator(mode="after")
    def extensions_fit(self) -> "Config":
        for extension in extensions():
            extension.check(self)
        return self

    def section(self, kind: type[Kind]) -> Kind:
        """The section of an extension by its model; its defaults if the configuration has none."""
        return getattr(self, section_key(kind)) or kind()

    def has(self, kind: type[Section]) -> bool:
        """Whether the configuration has a section of an extension."""
        return getattr(self, section_key(kind)) is not None


@cache
def config_model() -> type[Config]:
    """The model of a whole configuration: `Config` with the sections of all extensions."""
    sections = {key: kind for extension in extensions() for key, kind in extension.sections.items()}
    fields: dict[str, Any] = {key: (kind | None, None) for key, kind in sections.items()}
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)


@cache
def section_key(kind: type[Section]) -> str:
    """The key of a section at the top of the configuration; empty for a model of a section below it."""
    kinds: dict[Any, str] = {field.annotation: name for name, field in config_model().model_fields.items()}
    return kinds.get(kind) or kinds.get(kind | None, "")


def load(values: dict[str, Any], source: str = "configuration") -> Config:
    """Validate plain values; raises InputError with each key's path, its value and the nearest valid key."""
    for path, text in _texts(values):
        place, name = path.rstrip("."), path.rpartition(".")[2]
        if is_secret(name, text):
            keep_secret(text)
            raise InputError(
                f"{redact(place)} holds a key or a password",
                file=source,
                remedy="remove it from there, and put it into the environment variable that api_key_variable names",
            )
        if sign := hidden(text):
            raise InputError(f"{place} holds the character {sign}, which nobody sees", file=source, remedy="remove it")
        if found := SCRIPT.search(text):
            raise InputError(f"{place} holds {found[0]!r}, which Snakemake's report would run", file=source)
    try:
        return config_model().model_validate(values)
    except ValidationError as error:
        lines = [_explain(detail, values) for detail in error.errors()]
        raise InputError("; ".join(lines), file=source, remedy="`verified dev config-docs` lists all keys") from None


SCRIPT = re.compile(r"</?script|<!--", re.I)
"""Snakemake's report embeds the params of jobs verbatim in a script of its page; these strings end or swallow it."""


def _texts(values: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Texts of a configuration, each with its path, and its keys, each with the path of its section and a point."""
    if is_object(values):
        for key, value in values.items():
            yield f"{path}.", str(key)
            yield from _texts(value, f"{path}.{key}" if path else str(key))
    elif is_array(values):
        for number, value in enumerate(values):
            yield from _texts(value, f"{path}.{number}")
    elif isinstance(values, str):
        yield path, values


def read(*paths: str | Path) -> Config:
    """Load YAML files with the layers below them; later files change earlier ones (see `config.layers`)."""
    return load(merge_layers(paths), ", ".join(map(str, paths)))


def _explain(detail: ErrorDetails, values: dict[str, Any]) -> str:
    path = _written_path(detail["loc"], values)
    shown = ".".join(map(str, path)) or "(top level)"
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), _sibling_keys(path), n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown key {shown} (value {detail['input']!r}){hint}"
    if detail["type"] == "missing":
        return f"missing key {shown}"
    if not path:
        return detail["msg"].removeprefix("Value error, ")
    value = re.sub(r"(?<=://)[^/@\s]*@|(?<=\?)[^\s'\"]+", "...", repr(detail["input"]))  # of addresses: secrets
    return f"{shown} = {value}: {detail['msg'].removeprefix('Value error, ')}"


def _written_path(location: tuple[int | str, ...], values: Any) -> list[int | str]:
    """The keys of `location` as the file has them: pydantic adds the name of the variant it tried."""
    path: list[int | str] = []
    for position, key in enumerate(location):
        try:
            values = values[key]
        except (KeyError, IndexError, TypeError):
            if position < len(location) - 1:
                continue
        path.append(key)
    return path


def _sibling_keys(path: list[int | str]) -> list[str]:
    """Valid keys of the section that holds the last part of `path`."""
    return properties_at(config_model().model_json_schema(), path[:-1])
