"""Kinds of mutations: of an encoding, of logits, of the batch that is learnt from, of the losses."""

from collections.abc import Callable

import torch
from torch import Tensor

from mutants.registry import Model, Mutation
from verified.benchmark.vcmr.contract import Batch, Spans


def for_spans(encoded: dict, side: str) -> str:
    """The encoding that spans are computed from."""
    names = ("localised" if side == "videos" else "localiser", "tokens")
    return next(name for name in names if name in encoded)


def encoding(side: str, change: Callable) -> Mutation:
    """A mutation of `encode_queries` or `encode_videos`: change(encoding, inputs, mask) in its place."""

    def attributes(base: Model) -> dict:
        def encode(self, values, mask):
            encoded = getattr(base, f"encode_{side}")(self, values, mask)
            name = for_spans(encoded, side)
            return {**encoded, name: change(encoded[name], values, mask)}

        return {f"encode_{side}": encode}

    return attributes


def logits(change: Callable[[Spans], Spans]) -> Mutation:
    """A mutation of what `span_logits` returns."""

    def attributes(base: Model) -> dict:
        def span_logits(self, queries, videos, query_index, video_index):
            return change(base.span_logits(self, queries, videos, query_index, video_index))

        return {"span_logits": span_logits}

    return attributes


def found(change: Callable[[Spans, Tensor], Spans]) -> Mutation:
    """A mutation of logits by the mask [P, L] of their pairs, in search alone."""

    def attributes(base: Model) -> dict:
        def span_logits(self, queries, videos, query_index, video_index):
            spans = base.span_logits(self, queries, videos, query_index, video_index)
            return change(spans, videos["mask"][video_index])

        return {"span_logits": span_logits}

    return attributes


def moved(logits: Tensor, mask: Tensor, by: int) -> Tensor:
    """Logits [P, L] of the real clips `by` clips later; the ends repeat what falls off."""
    places = torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)
    source = torch.minimum((places - by).clamp(min=0), mask.sum(dim=1, keepdim=True) - 1)
    return torch.where(mask, logits.gather(1, source), logits)


def learning_from(change: Callable[[Batch], Batch]) -> Mutation:
    """A mutation of the batch that the losses see."""

    def attributes(base: Model) -> dict:
        return {"losses": lambda self, batch, **more: base.losses(self, change(batch), **more)}

    return attributes


def losing(change: Callable[[dict, Batch, int], torch.Tensor]) -> Mutation:
    """A mutation of the losses: a further term change(losses, batch, epoch), counted in the total."""

    def attributes(base: Model) -> dict:
        def losses(self, batch, *, epoch, step, generator):
            terms = base.losses(self, batch, epoch=epoch, step=step, generator=generator)
            term = change(terms, batch, epoch)
            return {**terms, "term": term, "total": terms["total"] + term}

        return {"losses": losses}

    return attributes
