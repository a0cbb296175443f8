"""Settings that decide a training of a retrieval model, its ranked lists and its test, as jobs get them."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from verified.benchmark.vcmr.data import Padding
from verified.benchmark.vcmr.search import SearchSettings
from verified.config.base import Section
from verified.config.datasets import Spans
from verified.config.retrieval import Training
from verified.weights.records import source_of


class RankingSettings(Section):
    """Settings of ranking and testing a checkpoint on a data set."""

    spans: Spans
    text_encoder: str
    text_revision: str
    held_out_share: float
    """Share of the train file's videos that models are selected on; 0 where the selection split has a file."""
    external_score: Literal["exp", "cosine"]
    feature_cast: Literal["official", "float32"]
    searched_videos: int
    training_list_videos: int
    memory_mb: int
    device: str
    threads: int
    padding: Padding = "context"

    def searching(self, **changes: Any) -> SearchSettings:
        """Search settings with `changes`."""
        values = {
            "min_pred_clips": self.spans.min_pred_clips,
            "max_pred_clips": self.spans.max_pred_clips,
            "searched_videos": self.searched_videos,
            "memory_mb": self.memory_mb,
            "device": self.device,
            "padding": self.padding,
        }
        return SearchSettings(**{**values, **changes})


class TrainingSettings(RankingSettings):
    """Settings of a training and of its test."""

    recipe: Training
    """Departures from the official recipe."""
    options: dict[str, bool | int | float | str]
    """Values of the model's own config."""
    precision: Literal["float32", "bfloat16"]
    seed: int


Settings = TypeVar("Settings", bound=RankingSettings)


def locate_weights(files: Mapping[str, Any], settings: Settings) -> tuple[dict[str, Any], Settings]:
    """Input files and settings of a job: its records, the file `weights`, go, and what they locate comes in.

    The text encoder, whose tokeniser some models use, and RoBERTa's weights that HERO may start from.
    """
    files = dict(files)
    records = files.pop("weights")
    changes: dict[str, object] = {"text_encoder": source_of(settings.text_encoder, settings.text_revision, records)[0]}
    if isinstance(settings, TrainingSettings) and (roberta := settings.options.get("roberta")):
        changes["options"] = {**settings.options, "roberta": source_of(str(roberta), "", records)[0]}
    return files, settings.model_copy(update=changes)
