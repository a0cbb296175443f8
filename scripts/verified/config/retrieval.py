"""Training and testing of the retrieval models (section 4, supplement B)."""

import difflib
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from verified.config.base import Section
from verified.runtime.project import EXTENSIONS

MODELS = {
    "verified.benchmark.vcmr.models": Path(__file__).resolve().parents[1] / "benchmark" / "vcmr" / "models",
    **{f"verified_{folder.name}.models": folder / f"verified_{folder.name}" / "models" for folder in EXTENSIONS},
}
"""Packages of the models, the core's and those of extensions, with their folders; a model's name is its file's."""


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
    """Models by the names of their files in scripts/verified/benchmark/vcmr/models, or in an extension's models."""
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
    beyond that are read again at each step; a training has 8 KB a clip of its videos and 3 KB a word.
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
        for name in models:
            _check_model(name)
        if len(set(models)) < len(models):
            raise ValueError("a model is listed twice")
        return models

    def seeds_of(self, model: str) -> tuple[int, ...]:
        """Seeds that a model is trained with."""
        overrides = self.training.get(model)
        return self.seeds if overrides is None or overrides.seeds is None else overrides.seeds

    @model_validator(mode="after")
    def different_seeds(self):
        for model in self.models:
            seeds = self.seeds_of(model)
            if len(set(seeds)) < len(seeds):
                raise ValueError(f"a seed of {model} is listed twice")
        return self

    @field_validator("training")
    @classmethod
    def known_trained_models(cls, training: dict[str, Training]) -> dict[str, Training]:
        for name in training:
            _check_model(name)
        return training


def model_files() -> dict[str, Path]:
    """The file of each retrieval model, by name in alphabetical order."""
    files = [file for folder in MODELS.values() for file in folder.glob("[a-z]*.py")]
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def model_names() -> list[str]:
    """Names of the retrieval models, in alphabetical order."""
    return list(model_files())


def model_module(name: str) -> str:
    """The dotted module of a retrieval model. Raises KeyError for an unknown one."""
    folder = model_files()[name].parent
    return next(f"{package}.{name}" for package, place in MODELS.items() if place == folder)


def _check_model(name: str) -> None:
    if name not in model_names():
        near = difflib.get_close_matches(name, model_names(), n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"unknown retrieval model {name!r}; {hint}known: {', '.join(model_names())}")
