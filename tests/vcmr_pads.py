"""A step of training on pairs of unequal length, as a wide model computes it and on padded sequences."""

import torch

from verified.benchmark.vcmr.contract import Batch

WIDE = {"video_dim": 24, "text_dim": 20, "context_clips": 16, "query_tokens": 12, "hidden": 256, "dropout": 0.0}


def trained_with_and_without_pads(model, monkeypatch, counted):
    """Rows that the module `counted` of a model computes in a step of training, and its losses and gradients: as the
    model trains, then on padded sequences."""
    torch.manual_seed(0)
    mask = torch.arange(model.config.context_clips) < torch.tensor([3, 16, 9, 15, 1, 7, 16, 4, 9, 2])[:, None]
    tokens = torch.arange(12) < torch.tensor([12, 3, 1, 7, 7, 5, 12, 2, 9, 4])[:, None]
    batch = Batch(  # what pads hold must not matter
        torch.randn(10, 12, 20), tokens, torch.randn(*mask.shape, 24), mask, torch.stack([mask.sum(1) // 2] * 2, dim=1)
    )
    rows, sides = [], []
    counted.register_forward_hook(lambda _, given, out: rows.append(out.shape[:-1].numel()))
    for packed in (True, False):
        if not packed:
            monkeypatch.setattr(type(model), "packs", lambda *_: False)
        model.zero_grad()
        losses = model.losses(batch, epoch=0, step=0, generator=torch.Generator().manual_seed(5))
        losses["total"].backward()
        sides.append([*(loss.detach() for loss in losses.values()), *(p.grad.clone() for p in model.parameters())])
    return rows, sides
