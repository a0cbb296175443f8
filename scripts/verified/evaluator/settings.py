"""Settings that decide fine-tuning, as jobs get them."""

from typing import Literal

from verified.config import Config
from verified.config.base import Section


class FineTuningSettings(Section):
    """Keys of the section `evaluator` that decide fine-tuning."""

    size: str
    frames: int
    image_size: int
    crop_share: tuple[float, float] | None
    gpus: int
    epochs: int
    batch: int
    learning_rate: float
    warmup_epochs: float
    splits: tuple[str, ...] | None
    hard_negatives: Literal["all", "own", "none"]
    matching_normaliser: Literal["batch", "pairs"]
    precision: Literal["float32", "bfloat16"]
    confidence: Literal["z1", "margin", "similarity"]
    processes: int


def fine_tuning(settings: Config, **changes: object) -> dict[str, object]:
    """These keys as plain values, with `changes`."""
    values = {key: getattr(settings.evaluator, key) for key in FineTuningSettings.model_fields}
    return FineTuningSettings.model_validate({**values, **changes}).model_dump(mode="json")
