"""VLG-Net's two encoders brought together before it grounds: each sentence against the clips of all windows of a batch.

Not of the MAD paper, whose training of 14 million windows needs no such start. A shorter one spends most of its steps
on learning which clips a sentence speaks of, from a loss over anchors that says little about it; this loss says it of
each clip, and leaves the fusion of both sides as it was.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize

TEMPERATURE = 0.07


def alignment_loss(video: Tensor, query: Tensor, lengths: Tensor, moments: Tensor) -> Tensor:
    """Cross-entropy of a sentence's cosines with all clips of the batch against an even share for each clip of its own
    moment, mean over sentences.

    video: encoded windows [B, D, N], query: encoded tokens [B, D, L] of which `lengths` [B] are words; the last word's
    state represents the sentence. moments: whether a clip is in the moment, bool [B, N], at least one in each window.
    """
    batch, _, count = video.shape
    item = torch.arange(batch, device=video.device)
    sentences = normalize(query[item, :, lengths - 1], dim=1)
    clips = normalize(video, dim=1).transpose(1, 2).flatten(0, 1)  # [B · N, D]
    shares = (sentences @ clips.T / TEMPERATURE).log_softmax(dim=1).view(batch, batch, count)[item, item]
    return -((shares * moments).sum(dim=1) / moments.sum(dim=1)).mean()
