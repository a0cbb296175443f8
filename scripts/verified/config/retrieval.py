"""Training and testing of the retrieval models (section 4, supplement B)."""

import json
import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from verified.config.base import Section
from verified.errors import nearest
from verified.runtime.project import EXTENSIONS

MODELS = {
    "verified.benchmark.vcmr.models": Path(__file__).resolve().parents[1] / "benchmark" / "vcmr" / "models",
    **{f"verified_{folder.name}.models": folder / f"verified_{folder.name}" / "models" for folder in EXTENSIONS},
}
"""Packages of the models, the core's and those of extensions, with their folders; a model's name is its file's."""
GROUP = "verified.models"
"""Entry points of installed packages: the name of a model and the module that registers it."""
OWN = "VERIFIED_MODELS"
"""Environment variable: JSON, the files of models that the configuration names by path, for it and its jobs."""


SELECTION_VIDEOS = 6
"""Default of the fewest validation videos for selecting an epoch."""


class Training(Section):
    """Departures of one model from its official recipe; null keeps the official value (see the model's file)."""

    epochs: int | None = Field(default=None, ge=1)
    """Most epochs of training."""
    steps: int | None = Field(default=None, ge=1)
    """Steps of the optimiser; they take the place of `epochs`."""
    patience: int | None = Field(default=None, ge=1)
    """Training stops after more than this many epochs without improvement of VCMR 0.5/r1 + 0.7/r1."""
    selection_videos: int | None = Field(default=None, ge=1)
    """Fewest validation videos for selecting an epoch (null: 6). With fewer, which pick one by chance, `patience` is
    off and the last epoch is used.
    """
    batch: int | None = Field(default=None, ge=2)
    """Query-video pairs per batch."""
    learning_rate: float | None = Field(default=None, gt=0)
    """Peak learning rate."""
    warmup: float | None = Field(default=None, ge=0, lt=1)
    """Share of the steps in which the learning rate rises to its peak (models with a linear schedule)."""
    negatives: int | None = Field(default=None, ge=0)
    """Two-stage models: negative videos per query."""
    negative_pool: int | None = Field(default=None, ge=1)
    """Two-stage models: negatives come from the first (rank of the ground truth + pool) videos of the list."""
    seeds: tuple[int, ...] | None = Field(default=None, min_length=1)
    """One training of this model per seed; they take the place of `retrieval.seeds`."""
    options: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Options of the model's own config, such as hidden: 128 (names and defaults are in the model's file)."""


class Retrieval(Section):
    """The models to train, and their training settings."""

    models: tuple[str, ...] = ("xml",)
    """Models by name: of the workflow, of an extension, of an installed package (an entry point of `verified.models`);
    or by the path of a Python file, relative to this file, whose name is then the model's: models/mine.py."""
    seeds: tuple[int, ...] = Field(default=(2018,), min_length=1)
    """One training of each model per seed. Several bring the noise of training into the tables' intervals."""
    training: dict[str, Training] = Field(default_factory=dict)
    """Departures from the official recipe, by model."""
    external_score: Literal["exp", "cosine"] = "exp"
    """Reading of XML's score in two-stage models: exp(20 · cosine), or the cosine itself."""
    feature_cast: Literal["official", "float32"] | None = None
    """Number format in which features are normalised: that of their file, as in the official code, which for float16
    files gives other ranks, or float32. null: official for features that are given, float32 for those made here."""
    padding: Literal["context", "official"] = "context"
    """Length to which videos are padded: `max_context_clips`, so that no answer depends on batch mates, or as XML's and
    HERO's authors do, the longest of a batch, which gives the longest ones other ranks in VCMR.
    """
    searched_videos: int = Field(default=100, ge=1)
    """K: videos per query in which VCMR localises, and in XML's ranked lists for selection and test."""
    training_list_videos: int = Field(default=2000, ge=1)
    """Videos per query in XML's ranked lists for training, as in CONQUER's: negatives and pools come from them, and a
    query whose true video is not among them is omitted and counted.
    """
    resamples: int = Field(default=1000, ge=100)
    """Resamples behind the intervals of the evaluator's AUROC and of metrics against people; means need none."""
    memory_mb: int = Field(default=2000, ge=100)
    """MB for features cached while training, for the encoded corpus, and for the working memory of the search. Features
    beyond that are read again at each step; a training has 8 KB a clip of its videos and 3 KB a word. It is no
    operational key: the search's blocks have other sizes, in which a product may round otherwise.
    """
    device: Literal["cpu", "cuda"] = "cpu"
    """Where training and search run."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Number format of training, float32 in the official code; cosines and losses are float32 in either."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""

    @field_validator("models")
    @classmethod
    def known_models(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        for model in models:
            _check_file(Path(model)) if model.endswith(".py") else _check_model(model)
        names = list(map(_name, models))
        if len(set(names)) < len(names):
            raise ValueError("a model is listed twice")
        return models

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models; of one that is given by its path, that of its file."""
        return tuple(map(_name, self.models))

    def seeds_of(self, model: str) -> tuple[int, ...]:
        """Seeds that a model is trained with."""
        overrides = self.training.get(model)
        return self.seeds if overrides is None or overrides.seeds is None else overrides.seeds

    @model_validator(mode="after")
    def trainings_fit(self):
        for model in self.names:
            seeds = self.seeds_of(model)
            if len(set(seeds)) < len(seeds):
                raise ValueError(f"a seed of {model} is listed twice")
        for name in self.training.keys() - self.names:
            _check_model(name)
        return self


def announce_models(retrieval: Retrieval) -> None:
    """Make the models that are given by path known in this process and in those that it starts."""
    files = {_name(model): str(Path(model).resolve()) for model in retrieval.models if model.endswith(".py")}
    if files:
        os.environ[OWN] = json.dumps({**_own(), **files})


def _own() -> dict[str, str]:
    return json.loads(os.environ.get(OWN, "{}"))


def _name(model: str) -> str:
    return Path(model).stem if model.endswith(".py") else model


@cache
def _shipped() -> dict[str, tuple[str, Path]]:
    """Module and file of each model of the workflow, of extensions and of installed packages, by name."""
    folders = MODELS.items()
    models = {file.stem: (f"{package}.{file.stem}", file) for package, at in folders for file in at.glob("[a-z]*.py")}
    for point in entry_points(group=GROUP):
        spec = find_spec(point.value.partition(":")[0])
        if spec and spec.origin:
            models.setdefault(point.name, (spec.name, Path(spec.origin)))
    return models


def model_files() -> dict[str, Path]:
    """The file of each retrieval model, by name in alphabetical order."""
    files = {name: file for name, (_, file) in _shipped().items()} | {name: Path(file) for name, file in _own().items()}
    return dict(sorted(files.items()))


def model_names() -> list[str]:
    """Names of the retrieval models, in alphabetical order."""
    return list(model_files())


def model_module(name: str) -> str:
    """The dotted module of a retrieval model, which can be imported. Raises KeyError for an unknown one."""
    if name not in _own():
        return _shipped()[name][0]
    extend_path(Path(_own()[name]))
    return name


def extend_path(file: Path) -> None:
    """Put the folder of a model's file last on the import path, so that the model can import what lies there."""
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)


def _check_file(file: Path) -> None:
    """Raise ValueError unless `file` is a Python file whose name can be that of a model."""
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    if file.stem in _shipped() or not file.stem.isidentifier() or not _is_free(file):
        raise ValueError(
            f"{file.stem} cannot be the name of a model: another module has it, or it is no name; rename {file}"
        )


def _is_free(file: Path) -> bool:
    """Whether nothing else is imported under the name of `file`, such as a package in its folder."""
    spec = find_spec(file.stem) or PathFinder.find_spec(file.stem, [str(file.parent)])
    return spec is None or (spec.origin is not None and Path(spec.origin).resolve() == file.resolve())


def _check_model(name: str) -> None:
    if name not in model_names():
        hint, choices = nearest(name, model_names()), f"known: {', '.join(model_names())}"
        own = "a file of your own is named by its path, as in models/mine.py"
        raise ValueError(f"unknown retrieval model {name!r}{hint} ({choices}; {own})")
