"""Equations 9, 10 and 11 as functions of similarities and logits.

Roles of the four captions of an item: q the original, q+ the rewritten positive, s- and d- the static and dynamic
negatives. B items a batch, gathered over all processes.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid


def contrastive_loss(anchor: Tensor, hard: list[Tensor], temperature: Tensor | float, hard_negatives: str) -> Tensor:
    """Equation 9, a scalar: symmetric InfoNCE with one-hot targets.

    anchor: [B, B], s(v_i, q_j), row i a video; with q+ in place of q this is l_c+. hard: [B, B] matrices s(v_i, s-_j)
    and s(v_i, d-_j). The video-to-text denominator holds the hard negatives of every item (``all``), of item i alone
    (``own``), or none; the text-to-video direction is anchored on q alone, for no video matches a perturbed caption.
    """
    extra = {"all": hard, "own": [torch.diagonal(one)[:, None] for one in hard], "none": []}[hard_negatives]
    target = torch.arange(len(anchor), device=anchor.device)
    video_to_text = cross_entropy(torch.cat([anchor, *extra], dim=1) / temperature, target)
    text_to_video = cross_entropy(anchor.T / temperature, target)
    return (video_to_text + text_to_video) / 2


def matching_loss(positive: Tensor, negative: Tensor, batch: int, pairs: int, normaliser: str) -> Tensor:
    """Equation 10, a scalar: −Σ log σ(c) over matching pairs −Σ log(1 − σ(c)) over the others, normalised.

    positive, negative: values c = z1 − z0 of any shape, this process's share. batch: B over all processes
    (``normaliser`` batch, as written); pairs: how many terms the sum has over all processes (``pairs``, UMT's mean).
    """
    total = -(logsigmoid(positive).sum() + logsigmoid(-negative).sum())
    return total / (batch if normaliser == "batch" else pairs)


def total_loss(terms: dict[str, Tensor], weight_contrastive: float = 1.0, weight_matching: float = 1.0) -> Tensor:
    """Equation 11, a scalar: (λ_c / 2)(l_c + l_c+) + (λ_m / 2)(l_m + l_m+)."""
    return weight_contrastive / 2 * (terms["contrastive"] + terms["contrastive_plus"]) + weight_matching / 2 * (
        terms["matching"] + terms["matching_plus"]
    )


def negative_weights(similarity: Tensor, temperature: float, same: Tensor) -> Tensor:
    """Sampling weights [B, B] over each row of `similarity`, as UMT draws them.

    softmax(s / τ) with the entries of `same` (boolean: not a negative) at zero; a row with nothing left to draw gets
    equal weights off the diagonal.
    """
    weights = torch.softmax(similarity.float() / temperature + 1e-4, dim=1).masked_fill(same, 0.0)
    empty = weights.sum(dim=1, keepdim=True) <= 0
    off_diagonal = ~torch.eye(len(weights), dtype=torch.bool, device=weights.device)
    return torch.where(empty, off_diagonal.to(weights.dtype), weights)


def draw_negatives(similarity: Tensor, temperature: float, same: Tensor, generator: torch.Generator) -> tuple:
    """Draw for each item the index of a negative caption and of a negative video.

    similarity: [B, B], s(v_i, q_j) of the gathered batch, so that every process draws the same. Returns two int64
    vectors [B] on the CPU, where the generator lives: the same draws on every kind of device.
    """
    similarity, same = similarity.detach().float().cpu(), same.cpu()
    texts = torch.multinomial(negative_weights(similarity, temperature, same), 1, generator=generator)
    videos = torch.multinomial(negative_weights(similarity.T, temperature, same.T), 1, generator=generator)
    return texts[:, 0], videos[:, 0]
