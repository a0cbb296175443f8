"""The noise evaluator: UMT's arrangement of a video encoder, a text encoder, fusion layers and two heads (section 3.3).

Differences from the official code, each covered by a test:
- keys and values of the video are computed once per video instead of once per pair (same numbers);
- attention is fused, padded words are masked with minus infinity instead of -10000 (same numbers in float32);
- similarities and the match head are computed in float32 also under autocast, so that scores of candidates do not tie;
- no CLIP teacher, no masked language modelling head: they have weight 0 in fine-tuning.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from verified.evaluator.architecture import Architecture
from verified.evaluator.text import FusionEncoder, TextEncoder
from verified.evaluator.vision import VideoEncoder
from verified.nn.layers import whole

TEMPERATURE = 0.07
TEMPERATURE_RANGE = (0.001, 0.5)


class NoiseEvaluator(nn.Module):
    """Scores how well a caption fits a clip: a contrastive similarity and a two-way match head."""

    def __init__(self, size: Architecture):
        super().__init__()
        self.size = size
        self.vision = VideoEncoder(size)
        self.text = TextEncoder(size)
        self.fusion = FusionEncoder(size)
        self.video_projection = nn.Linear(size.vision_width, size.embedding)
        self.text_projection = nn.Linear(size.text_width, size.embedding)
        self.match_head = nn.Linear(size.text_width, 2)
        self.temperature = nn.Parameter(torch.tensor(TEMPERATURE))

    def encode_video(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Normalised frames [B, T, 3, H, W] → tokens [B, T·P, width] and a unit vector a frame [B, T, embedding]."""
        tokens, frames = self.vision(pixels)
        return tokens, normalize(self.video_projection(frames), dim=-1)

    def encode_text(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Token ids and mask [N, L] → states [N, L, width] and unit vectors of the captions [N, embedding]."""
        states = self.text(ids, mask)
        return states, normalize(self.text_projection(states[:, 0]), dim=-1)

    def match(self, states: Tensor, mask: Tensor, memory: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Logits [P, 2] of P pairs (column 1: the caption matches); see FusionEncoder.forward for the pairing."""
        read = self.fusion(states, mask, memory)
        with whole(read.device):
            return self.match_head(read.float())

    def use_checkpointing(self, on: bool = True) -> None:
        """Recompute activations of every layer in the backward pass instead of keeping them."""
        for tower in (self.vision, self.text, self.fusion):
            tower.checkpointing = on


def similarity(videos: Tensor, texts: Tensor) -> Tensor:
    """s(v, q) [B, N]: mean over frames of the cosine between unit vectors [B, T, E] and [N, E]; no temperature."""
    with whole(videos.device):
        return torch.einsum("bte,ne->bn", videos.float(), texts.float()) / videos.shape[1]


def confidence(logits: Tensor) -> dict[str, Tensor]:
    """z1, margin z1 − z0 and probability σ(margin) of two-way logits [..., 2]."""
    margin = logits[..., 1] - logits[..., 0]
    return {"z1": logits[..., 1], "margin": margin, "probability": torch.sigmoid(margin)}
