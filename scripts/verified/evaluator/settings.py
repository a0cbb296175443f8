"""Sizes of the evaluator, the paper's ViT-L/16 with BERT-large and smaller ones (see sizes.toml), and the settings that
decide fine-tuning.
"""

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from verified.errors import InputError

TINY_TOKENS = 16 + 4
"""Tokens of one frame from the tiny stem, at any frame size: of motion, and of looks."""
SIZES: dict[str, dict] = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text(encoding="utf-8"))

Width = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Layers = Annotated[int, Field(strict=True, ge=1, le=256)]
"""Limits of a header's values: those beyond only fill the memory."""
Share = Annotated[float, Field(strict=True, ge=0, lt=1)]


@dataclass(frozen=True)
class Architecture:
    """Every number that decides the shape or the arithmetic of the network.

    `stem`: how frames become tokens. ``patches`` is UMT's linear projection of 16×16 patches with a fixed sine-cosine
    table over the flattened (time, row, column) index. ``tiny`` is for the tiny size, whose data and training time are
    too small to learn motion and shapes: convolutions over small frames and their differences to both neighbours, plus
    a pre-trained image network's features of every second frame (see tiny/stem.py).

    `may_read_nothing`: cross-attention also has a key and value of zero. A word without a counterpart in the video then
    reads zero, which the match head sees directly; without this key, the tiny size did not learn to match in its few
    hundred steps. UMT has no such key.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    size: str
    frames: Width
    image_size: Width
    patch_size: Width = 16
    stem: Literal["patches", "tiny"] = "patches"
    vision_width: Width = 1024
    vision_layers: Layers = 24
    vision_heads: Width = 16
    vision_feedforward: Width = 4096
    text_width: Width = 1024
    text_layers: Layers = 19
    fusion_layers: Layers = 5
    text_heads: Width = 16
    text_feedforward: Width = 4096
    vocabulary: Width = 30522
    text_positions: Width = 512
    embedding: Width = 768
    may_read_nothing: Annotated[bool, Field(strict=True)] = False
    drop_path: Share = 0.2
    text_dropout: Share = 0.1

    @property
    def tokens_per_frame(self) -> int:
        """Tokens of one frame."""
        return TINY_TOKENS if self.stem == "tiny" else (self.image_size // self.patch_size) ** 2

    def as_dict(self) -> dict:
        """Plain values, for the header of a checkpoint."""
        return asdict(self)


def architecture(size: str, frames: int, image_size: int) -> Architecture:
    """The architecture named in the config; `image_size` in pixels."""
    return Architecture(size, frames, image_size, **SIZES[size]["network"])


def job_needs(size: str) -> dict:
    """Resources and training settings of jobs of a size: the table `jobs` of sizes.toml."""
    return SIZES[size]["jobs"]


def from_header(values: object, file: object) -> Architecture:
    """Rebuild an architecture from a checkpoint's header; InputError names the first key that does not fit."""
    if not isinstance(values, dict):
        raise InputError("damaged: its header holds no architecture", file=file)
    missing = [field.name for field in fields(Architecture) if field.name not in values]
    if missing:
        raise InputError(f"architecture key {missing[0]!r} is missing from the header", file=file)
    try:
        return TypeAdapter(Architecture).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"architecture key {'.'.join(map(str, first['loc']))!r}: {first['msg']}",
            file=file,
            remedy="if the checkpoint was written by a newer version, update the workflow",
        ) from None


FINE_TUNING = (
    *("batch", "confidence", "cpu_processes", "crop_share", "epochs", "frames", "gpus", "hard_negatives", "image_size"),
    *("learning_rate", "matching_normaliser", "precision", "size", "splits", "warmup_epochs"),
)
"""Fields of the section `evaluator` that fine-tuning depends on."""
OF_CLIPS = ("clip_side", "frames", "frames_per_interval", "image_size")
OF_SCORES = ("confidence", "precision", "threads")
"""Fields that clips, and the scores of a trained evaluator, depend on."""
