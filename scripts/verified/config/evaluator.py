"""The Fine-Granularity Aware Noise Evaluator (section 3.3)."""

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from verified.config.base import Line, Operational, Section
from verified.io.jsonl import is_object

PRETRAINED = "pretrained"
PRETRAINED_FRAMES = 8
"""Frames of a moment for which the times of the pretrained weights were learnt."""


class Evaluator(Section):
    """Architecture, pre-training, fine-tuning and scoring."""

    name: Line = "demo"
    """Its name in tables and cards; one evaluator serves all data sets of a configuration."""
    size: Literal["tiny", "mini/16", "L/16"] = "tiny"
    """tiny (the demo's), L/16 (UMT's, the paper's) or mini/16: UMT's arrangement at tiny size, for rehearsals."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""
    checkpoint: str | None = PRETRAINED
    """Initial checkpoint, as `verified import umt` writes it; pretrained: the shipped one of size tiny; null: the
    converted `umt_file`.
    """
    umt_file: str | None = Field(default=None, pattern=r"\.pth$")
    """UMT's own checkpoint (.pth), which the workflow converts."""
    umt_url: str | None = None
    """Address of `umt_file`, used if the file is missing."""
    umt_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 that `umt_file` must have; null: the lock file pins the first one that comes."""
    frames: int = Field(default=8, ge=2)
    """Frames per moment (20 in the paper)."""
    image_size: int = Field(default=112, ge=16)
    """Frame size in pixels (224 in the paper)."""
    frames_per_interval: int = Field(default=1, ge=1)
    """Frames stored of each of the moment's intervals, from which training draws one; scoring uses the middle one."""
    clip_side: int | None = Field(default=None, ge=32, multiple_of=2)
    """Shorter side, in pixels, of the frames stored for training and scoring, as H.264 in the video's proportions;
    null: raw frames in the model's size.
    """
    keep_clips: bool = True
    """Keep those frames after their last use; the paper's would take tens of gigabytes."""
    crop_share: tuple[float, float] | None = None
    """Range of the share of a picture's area that training cuts out at random ([0.5, 1.0] in UMT); null: all of it.
    Pictures are never mirrored, as UMT does: captions say left and right."""
    gpus: int = Field(default=0, ge=0)
    """GPUs, and so processes, of fine-tuning (4 in the paper); 0 trains on the CPU."""
    cpu_processes: int = Field(default=1, ge=1)
    """Processes of fine-tuning without a GPU: only for testing several, as they gain nothing."""
    gpu_model: Annotated[str, Operational("the GPUs of a cluster that its jobs request")] = ""
    """Model of the GPUs that its jobs ask for, as the cluster spells it (a100 in the paper); empty: any."""
    save_seconds: Annotated[float, Operational("a resumed training ends in the same bytes")] = Field(default=60.0, ge=0)
    """Least time between two states of its trainings on disk, from which a killed one resumes (L/16: 8 GB each)."""
    ablation: bool = False
    """Grade the evaluator on perturbations it never saw, and also a second fine-tuning without perturbed negatives:
    table `evaluator`. Users' corpora are always graded.
    """
    epochs: int = Field(default=4, ge=1)
    """Fine-tuning epochs (10 in the paper)."""
    batch: int = Field(default=16, ge=2)
    """Moments per step over all processes."""
    learning_rate: float = Field(default=1e-4, gt=0)
    """Peak learning rate (1e-5 in the paper)."""
    warmup_epochs: float = Field(default=1.0, ge=0)
    """Epochs over which the learning rate rises to its peak (1 in UMT)."""
    splits: tuple[str, ...] | None = None
    """Splits whose perturbations are trained on; null: all splits of all data sets, as in the paper."""
    hard_negatives: Literal["all", "own", "none"] = "all"
    """Which perturbed captions are in Equation 9's denominator; none also drops them from Equation 10."""
    matching_normaliser: Literal["batch", "pairs"] = "batch"
    """Normaliser of Equation 10: B as written, or the number of pairs."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Number format of fine-tuning and scoring; similarities, the match head and all weights are float32 in either."""
    confidence: Literal["z1", "margin", "similarity"] = "margin"
    """Confidence score: z1 or the margin z1 - z0 of the match head, or the contrastive similarity."""

    @model_validator(mode="before")
    @classmethod
    def pretrained_for_its_size_alone(cls, values: object) -> object:
        """`pretrained` has size tiny: other sizes, and UMT's files, start from it only on request."""
        if is_object(values) and (values.get("size", "tiny") != "tiny" or values.get("umt_file")):
            return {"checkpoint": None, **values}
        return values

    @model_validator(mode="after")
    def startable(self) -> "Evaluator":
        if not (self.checkpoint or self.umt_file):
            raise ValueError(
                f"size {self.size} starts from a checkpoint, such as UMT's: name the authors' file in"
                " evaluator.umt_file, or one that `verified import umt` wrote in evaluator.checkpoint"
            )
        if self.checkpoint == PRETRAINED and (self.size, self.frames) != ("tiny", PRETRAINED_FRAMES):
            raise ValueError(
                f"`pretrained` is of size tiny and takes {PRETRAINED_FRAMES} frames: for another size or other frames"
                " name a checkpoint of those"
            )
        if self.batch % self.processes:
            raise ValueError(f"batch {self.batch} cannot be split evenly over {self.processes} processes")
        if not re.fullmatch(r"[A-Za-z0-9_.]*", self.gpu_model):
            raise ValueError(
                f"Snakemake's SLURM executor takes letters, digits, _ and . in the name of a GPU model, not"
                f" {self.gpu_model!r}: leave evaluator.gpu_model empty and name a feature of those nodes as"
                " `constraint` in the profile"
            )
        if self.crop_share and not 0 < self.crop_share[0] <= self.crop_share[1] <= 1:
            raise ValueError(f"crop_share {list(self.crop_share)} is not a range of shares within (0, 1]")
        if self.image_size % 16:
            raise ValueError(f"image_size {self.image_size} is not a multiple of the patch size 16")
        return self

    @property
    def imported(self) -> str | None:
        """The user's checkpoint that it starts from; null for the shipped one."""
        return None if self.checkpoint == PRETRAINED else self.checkpoint or self.umt_file

    @property
    def processes(self) -> int:
        """Processes of fine-tuning: one for each GPU."""
        return self.gpus or self.cpu_processes
