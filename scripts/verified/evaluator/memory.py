"""What a training will need on a GPU, worked out before it starts."""

import logging

import torch

from verified.evaluator.architecture import Architecture
from verified.evaluator.model import NoiseEvaluator

log = logging.getLogger("verified")
GIGABYTE = 1e9
BF16, FP32 = 2, 4


def estimate(size: Architecture, clips: int, tokens: int = 64) -> dict[str, float]:
    """Gigabytes a process needs with `clips` clips a step, by what they are for.

    weights, gradients and both moments of AdamW in float32; one stored input per checkpointed layer in bfloat16, for
    the clips, their four captions of `tokens` words and their eight pairs; and the largest block while it is computed
    again. Fused attention keeps no matrix of tokens by tokens.
    """
    with torch.device("meta"):
        parameters = sum(p.numel() for p in NoiseEvaluator(size).parameters())
    video = clips * size.frames * size.patches_per_frame
    stored = video * size.vision_width * size.vision_layers
    stored += clips * 4 * tokens * size.text_width * size.text_layers
    stored += clips * 8 * tokens * size.text_width * size.fusion_layers
    # Keys and values of all fusion layers are shared by the pairs and kept; those of drawn videos are copied.
    memory = 2 * 3 * video * size.text_width * size.fusion_layers
    block = video * (8 * size.vision_width + 3 * size.vision_feedforward)
    values = {
        "weights, gradients, optimiser": 4 * FP32 * parameters,
        "stored activations": BF16 * (stored + memory),
        "one block computed again": BF16 * block,
    }
    return {name: value / GIGABYTE for name, value in values.items()}


def log_estimate(size: Architecture, clips: int) -> None:
    """Log the estimate in one line."""
    parts = estimate(size, clips)
    listed = ", ".join(f"{name} {value:.1f}" for name, value in parts.items())
    log.info(
        "memory per GPU with %d clips of %d frames: about %.0f GB (%s)", clips, size.frames, sum(parts.values()), listed
    )
