"""The configuration: one model, from which the schema and the documentation are generated."""

import difflib
from pathlib import Path

import yaml
from pydantic import Field, ValidationError, field_validator

from verified.common.errors import InputError
from verified.config.annotations import Annotations
from verified.config.base import Section
from verified.config.datasets import DataSet
from verified.config.evaluator import Evaluator
from verified.config.features import Features
from verified.config.generation import Generation
from verified.config.retrieval import Retrieval
from verified.config.rextime import Rextime
from verified.config.statistics import Statistics
from verified.config.study import Study
from verified.config.weights import Weights


class Config(Section):
    """Everything a run depends on."""

    name: str = Field("demo", pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Name of this configuration: of its folder below results/, and in every table."""
    seed: int = Field(2024, ge=0)
    """Every random draw derives from it."""
    shards: int = Field(2, ge=1, le=999)
    """Parts that each data set is split into, by a stable hash of the video id."""
    datasets: dict[str, DataSet] = Field(min_length=1)
    """Data sets by name (lower-case letters, digits and hyphens), which becomes a folder below results/NAME."""
    generation: Generation = Generation()
    evaluator: Evaluator = Evaluator()
    annotations: Annotations = Annotations()
    features: Features = Features()
    retrieval: Retrieval = Retrieval()
    statistics: Statistics = Statistics()
    study: Study = Study()
    rextime: Rextime = Rextime()
    weights: Weights = Weights()

    @field_validator("name")
    @classmethod
    def free_name(cls, name: str) -> str:
        if name == "tables":
            raise ValueError("results/tables shows the tables of the last run; choose another name")
        return name

    @field_validator("datasets")
    @classmethod
    def folder_names(cls, datasets: dict[str, DataSet]) -> dict[str, DataSet]:
        from verified.config.folders import RESERVED

        for name in datasets:
            if not name or not all(c.isascii() and (c.islower() or c.isdigit() or c == "-") for c in name):
                raise ValueError(f"data set name {name!r} must be lower-case letters, digits and hyphens")
            if name in RESERVED:
                raise ValueError(f"data set name {name!r} is taken by a folder of that name below results/NAME")
        return datasets


def load(values: dict, source: str = "configuration") -> Config:
    """Validate plain values; raises InputError with each key's path, its value and the nearest valid key."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        lines = [_explain(detail, values) for detail in error.errors()]
        raise InputError("; ".join(lines), file=source, remedy="see config/README.md for all keys") from None


def read(path: str | Path) -> Config:
    """Load a YAML file."""
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"not YAML: {error}", file=path) from None
    if not isinstance(values, dict):
        raise InputError("expected a mapping of keys", file=path)
    return load(values, str(path))


def _explain(detail: dict, values: dict) -> str:
    path = _written_path(detail["loc"], values)
    shown = ".".join(map(str, path)) or "(top level)"
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), _keys_beside(path), n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown key {shown} (value {detail['input']!r}){hint}"
    if detail["type"] == "missing":
        return f"missing key {shown}"
    return f"{shown} = {detail['input']!r}: {detail['msg'].removeprefix('Value error, ')}"


def _written_path(location: tuple, values: object) -> list:
    """The keys of `location` as they stand in the file: pydantic adds the name of the variant it tried."""
    path = []
    for position, part in enumerate(location):
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            if position < len(location) - 1:
                continue
        path.append(part)
    return path


def _keys_beside(path: list) -> list[str]:
    """Valid keys of the section that holds the last part of `path`."""
    from verified.config.schema import properties_at

    return properties_at(path[:-1])
