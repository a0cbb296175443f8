"""Trivial negatives of Equation 10: one caption per video and one video per caption, likelier the more similar."""

import torch
from torch import Tensor


def negative_weights(similarity: Tensor, temperature: float, same: Tensor) -> Tensor:
    """Sampling weights [B, B] over each row of `similarity`, as UMT draws them.

    softmax(s / τ) with the entries of `same` (boolean: not a negative) at zero; a row with nothing left to draw gets
    equal weights off the diagonal.
    """
    weights = torch.softmax(similarity.float() / temperature + 1e-4, dim=1).masked_fill(same, 0.0)
    empty = weights.sum(dim=1, keepdim=True) <= 0
    others = ~torch.eye(len(weights), dtype=torch.bool, device=weights.device)
    return torch.where(empty, others.to(weights.dtype), weights)


def draw_negatives(similarity: Tensor, temperature: float, same: Tensor, generator: torch.Generator) -> tuple:
    """Draw for each item the index of a negative caption and of a negative video.

    similarity: [B, B], s(v_i, q_j) of the gathered batch, so that every process draws the same. Returns two int64
    vectors [B] on the CPU, where the generator lives: the same draws on every kind of device.
    """
    similarity, same = similarity.detach().float().cpu(), same.cpu()
    texts = torch.multinomial(negative_weights(similarity, temperature, same), 1, generator=generator)
    videos = torch.multinomial(negative_weights(similarity.T, temperature, same.T), 1, generator=generator)
    return texts[:, 0], videos[:, 0]
