"""Sizes of the evaluator, the paper's ViT-L/16 with BERT-large and smaller ones (see sizes.toml), and the settings that
decide fine-tuning.
"""

import reprlib
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from verified.errors import InputError
from verified.io.jsonl import finite

TINY_TOKENS = 16 + 4
"""Tokens of one frame from the tiny stem, at any frame size: of motion, and of looks."""
SIZES: dict[str, dict] = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text(encoding="utf-8"))


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

    size: str
    frames: int
    image_size: int
    patch_size: int = 16
    stem: Literal["patches", "tiny"] = "patches"
    vision_width: int = 1024
    vision_layers: int = 24
    vision_heads: int = 16
    vision_feedforward: int = 4096
    text_width: int = 1024
    text_layers: int = 19
    fusion_layers: int = 5
    text_heads: int = 16
    text_feedforward: int = 4096
    vocabulary: int = 30522
    text_positions: int = 512
    embedding: int = 768
    may_read_nothing: bool = False
    drop_path: float = 0.2
    text_dropout: float = 0.1

    @property
    def tokens_per_frame(self) -> int:
        """Tokens of one frame."""
        return TINY_TOKENS if self.stem == "tiny" else (self.image_size // self.patch_size) ** 2

    def as_dict(self) -> dict:
        """Plain values, for the header of a checkpoint."""
        return asdict(self)


def architecture(size: str, frames: int, image_size: int) -> Architecture:
    """The architecture named in the config.

    Raises InputError if `image_size` (pixels) is not a multiple of the patch size.
    """
    if size not in SIZES:
        raise InputError(f"unknown evaluator size {size!r}", remedy=f"use {', '.join(SIZES)}")
    described = Architecture(size, frames, image_size, **SIZES[size]["network"])
    if image_size % described.patch_size:
        raise InputError(
            f"evaluator.image_size = {image_size} is not a multiple of the patch size {described.patch_size}",
            remedy=f"use a multiple of {described.patch_size}",
        )
    return described


def job_needs(size: str) -> dict:
    """Resources and training settings of jobs of a size: the table `jobs` of sizes.toml."""
    return SIZES[size]["jobs"]


def from_header(values: object, file: object) -> Architecture:
    """Rebuild an architecture from a checkpoint's header; InputError names the first key that does not fit."""
    if not isinstance(values, dict):
        raise InputError("damaged: its header holds no architecture", file=file)
    names = {field.name for field in fields(Architecture)}
    for key in values:
        if key not in names:
            raise InputError(
                f"architecture key {key!r} is unknown to this version",
                file=file,
                remedy="the checkpoint was written by a newer version; update the workflow",
            )
    missing = [field.name for field in fields(Architecture) if field.name not in values]
    if missing:
        raise InputError(f"architecture key {missing[0]!r} is missing from the header", file=file)
    for field in fields(Architecture):
        if not _plausible(field.name, field.type, values[field.name]):
            raise InputError(f"architecture key {field.name!r} cannot be {reprlib.repr(values[field.name])}", file=file)
    return Architecture(**values)


def _plausible(name: str, kind: object, value: object) -> bool:
    """Whether a network with this value is plausible; sizes that only fill the memory are not."""
    if kind is int:
        largest = 256 if name.endswith("layers") else 1_000_000
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= largest
    if kind is float:
        return finite(value) and 0 <= value < 1
    return isinstance(value, kind) if isinstance(kind, type) else value in get_args(kind)


FINE_TUNING = (
    *("batch", "confidence", "cpu_processes", "crop_share", "epochs", "frames", "gpus", "hard_negatives", "image_size"),
    *("learning_rate", "matching_normaliser", "precision", "size", "splits", "warmup_epochs"),
)
"""Fields of the section `evaluator` that fine-tuning depends on."""
