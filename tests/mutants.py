"""Retrieval models that are broken on purpose, each with the check of the conformance kit that must find it out.

There is one for each kind of mistake. `HONEST` are unusual models that keep the contract.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from verified.benchmark.vcmr.contract import Batch, RetrievalModel, Spans
from verified.benchmark.vcmr.layers import zero_pads
from verified.benchmark.vcmr.registry import model_class, model_of_file
from verified.benchmark.vcmr.scoring import unit

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "mean_pooling.py"
RANKER = Path(__file__).parent / "models" / "late_interaction.py"

Model = type[RetrievalModel]
Mutation = Callable[[Model], dict]
"""From a model to the attributes of its changed subclass."""


@dataclass(frozen=True)
class Variant:
    """A subclass of `model`; `check` finds out what is wrong with it, with `reason` in its message."""

    name: str
    model: str
    check: str
    mutation: Mutation
    reason: str = ""

    def cls(self, model: str = "") -> Model:
        name = model or self.model
        base = model_of_file(EXAMPLE) if name == "example" else model_class(name)
        return type(f"{base.__name__}Variant", (base,), self.mutation(base))


# Kinds of mutations


def encoding(side: str, change: Callable) -> Mutation:
    """change(encoded) in the place of an encoding."""

    def attributes(base: Model) -> dict:
        encode = getattr(base, f"encode_{side}")
        return {f"encode_{side}": lambda self, values, mask: change(encode(self, values, mask))}

    return attributes


def reading(side: str, change: Callable) -> Mutation:
    """The encoder of a side sees change(values, mask); what comes behind it has the true mask."""

    def attributes(base: Model) -> dict:
        def encode(self, values, mask):
            encoded = getattr(base, f"encode_{side}")(self, *change(values, mask))
            return {**encoded, "mask": mask} if "mask" in encoded else encoded

        return {f"encode_{side}": encode}

    return attributes


def logits(change: Callable[[Spans, Tensor], Spans]) -> Mutation:
    """change(spans, mask [P, L] of their pairs) of what `span_logits` returns."""

    def attributes(base: Model) -> dict:
        def span_logits(self, queries, videos, query_index, video_index):
            spans = base.span_logits(self, queries, videos, query_index, video_index)
            return change(spans, videos["mask"][video_index])

        return {"span_logits": span_logits}

    return attributes


def long_starts_early(base: Model) -> dict:
    def label(*moment):
        first, last = base.label(*moment)
        return max(first - (last - first > 3), 0), last

    return {"label": staticmethod(label)}


def labelled(column: int, by: int) -> Mutation:
    """One end of each label `by` clips later."""

    def attributes(base: Model) -> dict:
        def label(start, end, seconds, clips):
            given = list(base.label(start, end, seconds, clips))
            given[column] = min(max(given[column] + by, 0), clips - 1)
            return (min(given), given[1]) if column == 0 else (given[0], max(given))

        return {"label": staticmethod(label)}

    return attributes


def losing(change: Callable[[dict, Batch, int], Tensor]) -> Mutation:
    """A further term change(losses, batch, epoch), counted in the total."""

    def attributes(base: Model) -> dict:
        def losses(self, batch, *, epoch, step, generator):
            terms = base.losses(self, batch, epoch=epoch, step=step, generator=generator)
            term = change(terms, batch, epoch)
            return {**terms, "term": term, "total": terms["total"] + term}

        return {"losses": losses}

    return attributes


def method(name: str, change: Callable) -> Mutation:
    """`change(base)` is the method `name`."""
    return lambda base: {name: change(base)}


# Longer ones


def stale_videos(base):
    def encode_videos(self, video, mask):
        self.last = base.encode_videos(self, video, mask)
        return self.last

    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, self.last, query_index, video_index % len(self.last["mask"]))

    return {"encode_videos": encode_videos, "span_logits": span_logits}


def filtered_pads(values, mask):
    pads = ~mask.unsqueeze(2) if values.dim() == 3 else ~mask
    return values.masked_fill(pads, 0), torch.ones_like(mask)


def without_last_token(query, mask):
    shorter = mask & torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)
    return query, torch.where(mask.sum(1, keepdim=True) > 1, shorter, mask)


def without_last_clip(video, mask):
    count = mask.sum(dim=1, keepdim=True)
    last = torch.arange(mask.shape[1], device=mask.device) == count - 1
    return video, mask & ~(last & (count > 1))


def counted_twice(base):
    def losses(self, batch, **more):
        terms = base.losses(self, batch, **more)
        return {**terms, "total": terms["total"] + next(iter(terms.values()))}

    return {"losses": losses}


def spare_layer(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.spare = nn.Sequential(*(nn.Linear(3, 3) for _ in range(9)))

    return {"__init__": __init__}


def scaled_in_place(base):
    def span_logits(self, queries, videos, *index):
        spans = base.span_logits(self, queries, videos, *index)
        videos["localised"].mul_(1.0001)
        return spans

    return {"span_logits": span_logits}


def weights_outside_the_state(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.scale = 1 + torch.rand(1).item()

    def span_logits(self, *given):
        spans = base.span_logits(self, *given)
        return spans._replace(start=spans.start * self.scale)

    return {"__init__": __init__, "span_logits": span_logits}


BROKEN = [
    # What is encoded together
    Variant("clip vectors are centred over the batch", "example", "batch_mates",
            encoding("videos", lambda of: {**of, "unit": of["unit"] - of["unit"].mean(dim=0)}),
            "other videos of the batch change"),
    Variant("spans come from the videos that were encoded last", "conquer", "batch_mates", stale_videos),
    # Pads
    Variant("the query encoder sees pads as tokens", "hero", "changed_pads",
            reading("queries", lambda values, mask: (values, torch.ones_like(mask)))),
    Variant("pads are open for spans", "example", "pads",
            logits(lambda spans, _: spans._replace(start=spans.start.clamp(min=-5))), "pads hold"),
    Variant("a loss is averaged over the pads of videos", "hero", "padding",
            losing(lambda _, batch, epoch: (batch.video * batch.video_mask.unsqueeze(-1)).square().mean())),
    # What is read
    Variant("the last token of a query is not read", "reloclnet", "reading", reading("queries", without_last_token)),
    Variant("the last clip is hidden from attention", "xml", "attention",
            lambda base: {"video_features": lambda self, *given:
                          base.video_features(self, *without_last_clip(*given))}),
    Variant("scores lack a video", "example", "shapes",
            method("video_scores", lambda base: lambda self, *given: base.video_scores(self, *given)[:, :-1]),
            "video_scores: shape"),
    # Spans, labels, ranking
    Variant("starts and ends are swapped at search", "xml", "overfitting",
            logits(lambda spans, _: spans._replace(start=spans.end, end=spans.start))),
    Variant("labels start one clip early", "reloclnet", "labels", labelled(0, -1)),
    Variant("labels end one clip late", "squidnet", "round_trip", labelled(1, 1)),
    Variant("starts of long moments are one clip early", "squidnet", "round_trip", long_starts_early, "too early"),
    Variant("a lower score weighs more", "example", "weights",
            method("video_weights", lambda base: lambda self, scores: torch.exp(-scores)), "a lower score weighs more"),
    Variant("query vectors are rounded to float16", "reloclnet", "precision",
            encoding("queries", lambda of: {name: x.half().to(x.dtype) if x.is_floating_point() else x
                                            for name, x in of.items()})),
    # Losses
    Variant("a loss is counted twice in the total", "example", "losses", counted_twice, "not the sum"),
    Variant("a negative is in the slot of the true video", "squidnet", "losses",
            method("losses", lambda base: lambda self, batch, **more: base.losses(self, replace(
                batch, video=batch.video.roll(1, dims=1), video_mask=batch.video_mask.roll(1, dims=1)), **more))),
    Variant("a layer is never used", "example", "gradients", spare_layer,
            "no gradient reaches spare.0.weight, spare.0.bias and 16 more"),
    Variant("the step is not read where negatives become hard", "hero", "options",
            method("losses", lambda base: lambda self, batch, *, step, **draws:
                   base.losses(self, batch, step=0, **draws))),
    # Draws
    Variant("the loss draws from torch's global generator", "example", "determinism",
            losing(lambda losses, batch, epoch: torch.rand(())), "draw from `generator`"),
    # State
    Variant("scoring scales the encoded videos in place", "xml", "repetition", scaled_in_place),
    Variant("random weights are not saved", "example", "state", weights_outside_the_state,
            "differs after saving and loading"),
]  # fmt: skip


# Models that keep the contract


def batches_counted(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.register_buffer("batches", torch.zeros(()))

    def losses(self, batch, **draws):
        if self.training:
            self.batches += 1
        return base.losses(self, batch, **draws)

    return {"__init__": __init__, "losses": losses}


def learned_positions(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.position = nn.Embedding(config.context_clips, config.hidden)

    def encode_videos(self, video, mask):
        clips = self.video(zero_pads(video, mask)) + self.position.weight[: video.shape[1]]
        return {"unit": unit(clips), "clips": clips, "mask": mask}

    return {"__init__": __init__, "encode_videos": encode_videos}


def late_branch(base):
    """A branch whose last layer begins at zero: those before it get a gradient from the second step on."""

    def __init__(self, config):
        base.__init__(self, config)
        self.branch = nn.Sequential(nn.Linear(config.hidden, 7), nn.Linear(7, config.hidden))
        nn.init.zeros_(self.branch[1].weight)

    def encode_videos(self, video, mask):
        clips = self.video(zero_pads(video, mask))
        clips = clips + self.branch(clips)
        return {"unit": unit(clips), "clips": clips, "mask": mask}

    return {"__init__": __init__, "encode_videos": encode_videos}


HONEST = [
    Variant("pads hold minus infinity", "conquer", "",
            logits(lambda spans, mask: spans._replace(start=spans.start.masked_fill(~mask, -torch.inf)))),
    Variant("a saved buffer counts the batches", "hero", "", batches_counted),
    Variant("positions are learned", "example", "", learned_positions),
    Variant("a branch begins at zero", "example", "", late_branch),
    Variant("clips have a second stream", "example", "", lambda base: {"second_stream": True}),
]  # fmt: skip
