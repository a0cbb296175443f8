"""Retrieval models that are broken on purpose, each with the check of the conformance kit that must find it out.

`HONEST` are unusual models that keep the contract. About a third is by somebody who had not read the kit.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.functional import dropout

from verified.benchmark.vcmr.contract import Batch, RetrievalModel, Spans
from verified.benchmark.vcmr.layers import zero_pads
from verified.benchmark.vcmr.registry import model_class, model_of_file
from verified.benchmark.vcmr.scoring import unit

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "mean_pooling.py"

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
    """change(encoding, inputs, mask) in the place of what spans are computed from; `side` is queries or videos."""

    def attributes(base: Model) -> dict:
        def encode(self, values, mask):
            encoded = getattr(base, f"encode_{side}")(self, values, mask)
            name = next(n for n in ("localised" if side == "videos" else "localiser", "tokens") if n in encoded)
            return {**encoded, name: change(encoded[name], values, mask)}

        return {f"encode_{side}": encode}

    return attributes


def one_encoding(side: str, name: str, change: Callable) -> Mutation:
    """change(tensor) in the place of the tensor `name` of an encoding."""

    def attributes(base: Model) -> dict:
        def encode(self, values, mask):
            encoded = getattr(base, f"encode_{side}")(self, values, mask)
            return {**encoded, name: change(encoded[name])}

        return {f"encode_{side}": encode}

    return attributes


def reading(side: str, change: Callable) -> Mutation:
    """The encoder of a side sees change(values, mask); what comes behind it has the true mask."""

    def attributes(base: Model) -> dict:
        def encode(self, values, mask):
            encoded = getattr(base, f"encode_{side}")(self, *change(values, mask))
            return {**encoded, "mask": mask} if "mask" in encoded else encoded

        return {f"encode_{side}": encode}

    return attributes


def logits(change: Callable[[Spans], Spans]) -> Mutation:
    """change(spans) of what `span_logits` returns."""

    def attributes(base: Model) -> dict:
        return {"span_logits": lambda self, *given: change(base.span_logits(self, *given))}

    return attributes


def found(change: Callable[[Spans, Tensor], Spans]) -> Mutation:
    """change(spans, mask [P, L] of their pairs), in search alone."""

    def attributes(base: Model) -> dict:
        def span_logits(self, queries, videos, query_index, video_index):
            spans = base.span_logits(self, queries, videos, query_index, video_index)
            return change(spans, videos["mask"][video_index])

        return {"span_logits": span_logits}

    return attributes


def moved(field: str, by: int) -> Mutation:
    """Logits of the real clips `by` clips later; the ends repeat what falls off."""

    def change(spans: Spans, mask: Tensor) -> Spans:
        places = torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)
        source = torch.minimum((places - by).clamp(min=0), mask.sum(dim=1, keepdim=True) - 1)
        values = getattr(spans, field)
        return spans._replace(**{field: torch.where(mask, values.gather(1, source), values)})

    return found(change)


def labelled(column: int, by: int) -> Mutation:
    """One end of each label `by` clips later."""

    def attributes(base: Model) -> dict:
        def label(start, end, seconds, clips):
            given = list(base.label(start, end, seconds, clips))
            given[column] = min(max(given[column] + by, 0), clips - 1)
            return (min(given), given[1]) if column == 0 else (given[0], max(given))

        return {"label": staticmethod(label)}

    return attributes


def learning_from(change: Callable[[Batch], Batch]) -> Mutation:
    """The losses see change(batch)."""
    return lambda base: {"losses": lambda self, batch, **more: base.losses(self, change(batch), **more)}


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


def first_query(base):
    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, videos, torch.zeros_like(query_index), video_index)

    return {"span_logits": span_logits}


def cached_by_first_clip(base):
    def encode_videos(self, video, mask):
        first = video[:, 0]
        source = (first[:, None] == first[None]).all(dim=2).int().argmax(dim=1)
        return {**base.encode_videos(self, video[source], mask[source]), "mask": mask}

    return {"encode_videos": encode_videos}


def at_its_position(x, values, mask):
    return x + 0.05 * torch.randn(len(x), *x.shape[1:], generator=torch.Generator().manual_seed(1), dtype=x.dtype)


def mean_with_query_pads(x, values, mask):
    return x * (1 + values.to(x.dtype).flatten(1).mean(dim=1)).view(-1, *[1] * (x.dim() - 1))


def filtered_pads(values, mask):
    pads = ~mask.unsqueeze(2) if values.dim() == 3 else ~mask
    return values.masked_fill(pads, 0), torch.ones_like(mask)


def without_last_token(query, mask):
    shorter = mask & torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)
    return query, torch.where(mask.sum(1, keepdim=True) > 1, shorter, mask)


def without_last_column(query, mask):
    return query, torch.cat([mask[:, :-1], torch.zeros_like(mask[:, :1])], dim=1)


def without_first_clip(video, mask):
    return torch.cat([torch.zeros_like(video[:, :1]), video[:, 1:]], dim=1), mask


def without_last_clip(video, mask):
    count = mask.sum(dim=1, keepdim=True)
    last = torch.arange(mask.shape[1], device=mask.device) == count - 1
    return video, mask & ~(last & (count > 1))


def standardised_over_time(video, mask):
    real = mask.unsqueeze(2)
    count = real.sum(dim=1, keepdim=True)
    apart = (video - (video * real).sum(dim=1, keepdim=True) / count) * real
    return apart / (apart.square().sum(dim=1, keepdim=True) / (count - 1)).sqrt(), mask


def reversed_ranking(base):
    def video_scores(self, queries, videos):
        scores = base.video_scores(self, queries, videos)
        return scores if torch.is_grad_enabled() else -scores

    return {"video_scores": video_scores}


def changed_in_place(batch):
    batch.video.mul_(1.1)
    return batch


def counted_twice(base):
    def losses(self, batch, **more):
        terms = base.losses(self, batch, **more)
        return {**terms, "total": terms["total"] + next(iter(terms.values()))}

    return {"losses": losses}


def end_detached(base):
    def spans_of(self, *arguments):
        spans = base.spans_of(self, *arguments)
        return spans._replace(end=spans.end.detach()) if self.training else spans

    return {"spans_of": spans_of}


def starts_in_pads(base):
    def spans_of(self, first, mask, *rest):
        spans = base.spans_of(self, first, mask, *rest)
        last = spans.start.gather(1, mask.sum(dim=1, keepdim=True) - 1)
        return spans._replace(start=torch.where(mask, spans.start, last)) if self.training else spans

    return {"spans_of": spans_of}


def spare_layer(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.spare = nn.Sequential(*(nn.Linear(3, 3) for _ in range(9)))

    return {"__init__": __init__}


def unread_option(base):
    def __init__(self, config):
        base.__init__(self, replace(config, hidden=48))
        self.config = config

    return {"__init__": __init__}


def margin_ignored(base):
    def losses(self, batch, **draws):
        config, self.config = self.config, replace(self.config, margin=0.1)
        terms = base.losses(self, batch, **draws)
        self.config = config
        return terms

    return {"losses": losses}


def seeded_when_built(base):
    def __init__(self, config):
        torch.manual_seed(0)
        base.__init__(self, config)

    return {"__init__": __init__}


def numpy_seeded(values, mask):
    np.random.seed(0)
    return values, mask


def python_drawn(batch):
    random.random()
    return batch


def scaled_in_place(base):
    def span_logits(self, queries, videos, *index):
        spans = base.span_logits(self, queries, videos, *index)
        videos["localised"].mul_(1.0001)
        return spans

    return {"span_logits": span_logits}


def bank_of_queries(base):
    def encode_queries(self, query, mask):
        encoded = base.encode_queries(self, query, mask)
        self.__dict__.setdefault("bank", []).append(encoded["vector"].detach().mean(dim=0))
        return {**encoded, "unit": encoded["unit"] + 0.1 * torch.stack(self.bank).mean(dim=0)}

    return {"encode_queries": encode_queries}


def training_mean(base):
    def losses(self, batch, **draws):
        mean = batch.video.flatten(0, -2).mean(dim=0)
        self.mean = 0.5 * mean + 0.5 * self.__dict__.get("mean", mean)
        return base.losses(self, batch, **draws)

    def encode_videos(self, video, mask):
        return base.encode_videos(self, video if self.training else video - self.__dict__.get("mean", 0.0), mask)

    return {"losses": losses, "encode_videos": encode_videos}


def annealed_scores(base):
    def losses(self, batch, *, epoch, step, generator):
        self.annealed = 0.999**step
        return base.losses(self, batch, epoch=epoch, step=step, generator=generator)

    def video_scores(self, *given):
        return base.video_scores(self, *given) / (0.1 + self.annealed)

    return {"annealed": 1.0, "losses": losses, "video_scores": video_scores}


def weights_outside_the_state(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.scale = 1 + torch.rand(1).item()

    def span_logits(self, *given):
        spans = base.span_logits(self, *given)
        return spans._replace(start=spans.start * self.scale)

    return {"__init__": __init__, "span_logits": span_logits}


def rounded_queries(base):
    def encode_queries(self, query, mask):
        encoded = base.encode_queries(self, query, mask)
        return {name: x.half().to(x.dtype) if x.is_floating_point() else x for name, x in encoded.items()}

    return {"encode_queries": encode_queries}


def detached_videos(base):
    def encode_videos(self, video, mask):
        return {name: value.detach() for name, value in base.encode_videos(self, video, mask).items()}

    return {"encode_videos": encode_videos}


def rounded_weights(base):
    return {"video_weights": lambda self, scores: (10 * base.video_weights(self, scores)).round() / 10}


def _over_pads(losses, batch, epoch):
    return (batch.video * batch.video_mask.unsqueeze(-1)).square().mean()


BROKEN = [
    # What is encoded together
    Variant("clip vectors are centred over the batch", "example", "batch_mates",
            one_encoding("videos", "unit", lambda x: x - x.mean(dim=0)), "other videos of the batch change"),
    Variant("queries are centred over the batch", "reloclnet", "batch_mates",
            encoding("queries", lambda x, values, mask: x - x.mean(dim=0))),
    Variant("a video's encoding depends on its position in the batch", "squidnet", "batch_mates",
            encoding("videos", at_its_position)),
    Variant("starts are centred over the pairs of a chunk", "xml", "pads",
            logits(lambda spans: spans._replace(start=spans.start - spans.start.mean(dim=0)))),
    Variant("new scores are centred over the pairs of a chunk", "squidnet", "batch_mates",
            logits(lambda spans: spans._replace(score=spans.score - spans.score.mean()))),
    Variant("every pair is localised with the first query of the chunk", "hero", "batch_mates", first_query),
    Variant("spans come from the videos that were encoded last", "conquer", "batch_mates", stale_videos),
    Variant("encoded videos are cached by their first clip", "xml", "batch_mates", cached_by_first_clip),
    # Pads
    Variant("clips are scaled by the mean over all, pads included", "squidnet", "changed_pads",
            encoding("videos", lambda x, values, mask: x * (1 + values.mean(dim=(1, 2))[:, None, None]))),
    Variant("a query is scaled by the mean over its tokens, pads included", "xml", "changed_pads",
            encoding("queries", mean_with_query_pads)),
    Variant("the video encoder sees pads as clips", "reloclnet", "changed_pads",
            reading("videos", lambda values, mask: (values, torch.ones_like(mask)))),
    Variant("the query encoder sees pads as tokens", "hero", "changed_pads",
            reading("queries", lambda values, mask: (values, torch.ones_like(mask)))),
    Variant("pads are open for spans", "example", "pads",
            logits(lambda spans: spans._replace(start=spans.start.clamp(min=-5))), "pads hold"),
    Variant("unit vectors are normalised over the clips", "reloclnet", "padding",
            one_encoding("videos", "unit", lambda x: F.normalize(x, dim=1))),
    Variant("a loss is averaged over the pads of videos", "hero", "padding", losing(_over_pads)),
    Variant("a loss counts the pads of queries", "xml", "padding",
            losing(lambda losses, batch, epoch: 0.01 * batch.query_mask.float().mean() * losses["total"]),
            "queries are padded further"),
    Variant("the start's loss counts pads", "xml", "pads", starts_in_pads),
    # What is read
    Variant("the last token of a query is not read", "reloclnet", "reading", reading("queries", without_last_token)),
    Variant("the longest queries lose a token", "hero", "padding", reading("queries", without_last_column)),
    Variant("the first clip of a video is not read", "conquer", "reading", reading("videos", without_first_clip)),
    Variant("the last clip is hidden from attention", "xml", "attention",
            lambda base: {"video_features": lambda self, *given:
                          base.video_features(self, *without_last_clip(*given))}),
    Variant("clips are standardised over time: a video of one clip is NaN", "xml", "shapes",
            lambda base: {"video_features": lambda self, *given:
                          base.video_features(self, *standardised_over_time(*given))}),
    Variant("a method raises", "example", "shapes", method("encode_queries", lambda base: lambda *given: 1 / 0),
            "ZeroDivisionError"),
    Variant("scores lack a video", "example", "shapes",
            method("video_scores", lambda base: lambda self, *given: base.video_scores(self, *given)[:, :-1]),
            "video_scores: shape"),
    # Spans, labels, ranking
    Variant("starts and ends are swapped at search", "xml", "overfitting",
            logits(lambda spans: spans._replace(start=spans.end, end=spans.start))),
    Variant("starts come out one clip early", "xml", "padding", moved("start", -1)),
    Variant("starts come out one clip late", "xml", "overfitting", moved("start", 1)),
    Variant("start logits go through exp and log", "hero", "shapes",
            logits(lambda spans: spans._replace(
                start=torch.where(spans.start > -1e3, spans.start.exp().log(), spans.start)))),
    Variant("labels start one clip early", "reloclnet", "labels", labelled(0, -1)),
    Variant("labels start one clip late", "hero", "labels", labelled(0, 1)),
    Variant("labels end one clip early", "conquer", "round_trip", labelled(1, -1)),
    Variant("labels end one clip late", "squidnet", "round_trip", labelled(1, 1)),
    Variant("labels take seconds for clips", "example", "labels",
            lambda base: {"label": staticmethod(lambda start, end, seconds, clips: (int(start), int(end)))},
            "becomes clips"),
    Variant("spans are decoded a clip longer", "reloclnet", "round_trip",
            lambda base: {"decoded_end": base.decoded_end + 1}),
    Variant("the worst video is the best at search", "xml", "overfitting", reversed_ranking),
    Variant("a lower score weighs more", "example", "weights",
            method("video_weights", lambda base: lambda self, scores: torch.exp(-scores)), "a lower score weighs more"),
    Variant("all videos weigh the same", "squidnet", "weights",
            method("video_weights", lambda base: lambda self, scores: torch.ones_like(scores))),
    Variant("weights are a softmax over the queries", "xml", "weights",
            method("video_weights", lambda base: lambda self, scores: torch.softmax(scores, dim=0))),
    Variant("weights overflow to infinity", "xml", "weights",
            method("video_weights", lambda base: lambda self, scores: torch.exp(500 * scores))),
    Variant("weights are rounded to tenths", "conquer", "weights", rounded_weights),
    Variant("query vectors are rounded to float16", "reloclnet", "precision", rounded_queries),
    # Losses
    Variant("a loss is counted twice in the total", "example", "losses", counted_twice, "not the sum"),
    Variant("ends learn the labels of starts", "xml", "overfitting",
            learning_from(lambda batch: replace(batch, span=batch.span[:, :1].expand(-1, 2)))),
    Variant("queries learn from the moment of their neighbour", "xml", "losses",
            learning_from(lambda batch: replace(batch, span=batch.span.roll(1, dims=0)))),
    Variant("a negative is in the slot of the true video", "squidnet", "losses",
            learning_from(lambda batch: replace(
                batch, video=batch.video.roll(1, dims=1), video_mask=batch.video_mask.roll(1, dims=1)))),
    Variant("the batch is changed in place", "reloclnet", "losses", learning_from(changed_in_place)),
    Variant("a deviation over the batch, which one pair has not, is part of the loss", "hero", "losses",
            losing(lambda losses, batch, epoch:
                   0.01 * batch.query.to(torch.float32).std(dim=0).mean() * losses["total"])),
    Variant("the loss of late epochs is divided by zero", "conquer", "losses",
            losing(lambda losses, batch, epoch: losses["total"] / (0 if epoch > 100 else 100))),
    Variant("the loss is a constant", "example", "overfitting",
            method("losses", lambda base: lambda self, batch, **more:
                   {"total": base.losses(self, batch, **more)["total"] * 1e-9 + 1.0}), "take the loss from"),
    Variant("a layer is never used", "example", "gradients", spare_layer,
            "no gradient reaches spare.0.weight, spare.0.bias and 16 more"),
    Variant("no gradient reaches the videos", "example", "gradients",
            detached_videos, "no gradient reaches video.weight"),
    Variant("the end's branch is detached", "xml", "gradients", end_detached),
    Variant("the option hidden is not read", "xml", "options", unread_option),
    Variant("the option margin is not read", "reloclnet", "options", margin_ignored),
    Variant("the step is not read where negatives become hard", "hero", "options",
            method("losses", lambda base: lambda self, batch, *, step, **draws:
                   base.losses(self, batch, step=0, **draws))),
    # Draws
    Variant("the loss draws from torch's global generator", "example", "determinism",
            losing(lambda losses, batch, epoch: torch.rand(())), "draw from `generator`"),
    Variant("the loss draws from Python's global generator", "hero", "determinism", learning_from(python_drawn)),
    Variant("the loss seeds the generator that it is given", "reloclnet", "determinism",
            method("losses", lambda base: lambda self, batch, *, generator, **more:
                   base.losses(self, batch, generator=generator.manual_seed(0), **more))),
    Variant("a seed is fixed when a model is built", "xml", "determinism", seeded_when_built),
    Variant("NumPy's global state is seeded", "reloclnet", "repetition", reading("queries", numpy_seeded)),
    Variant("dropout acts on the logits in evaluation too", "xml", "repetition",
            logits(lambda spans: spans._replace(start=dropout(spans.start, 0.1, training=True)))),
    # State
    Variant("scoring scales the encoded videos in place", "xml", "repetition", scaled_in_place),
    Variant("queries are compared with a bank of all earlier ones", "xml", "repetition", bank_of_queries),
    Variant("a mean of the training's videos is not saved", "xml", "state", training_mean),
    Variant("random weights are not saved", "example", "state", weights_outside_the_state,
            "differs after saving and loading"),
    Variant("a temperature of video scores that is annealed by step is not saved", "xml", "state",
            annealed_scores),
]  # fmt: skip


# Models that keep the contract


def one_by_one(base):
    def encode_videos(self, video, mask):
        parts = [base.encode_videos(self, video[i : i + 1], mask[i : i + 1]) for i in range(len(video))]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    return {"encode_videos": encode_videos}


def noisy_clips(base):
    def losses(self, batch, *, generator, **draws):
        noise = torch.randn(batch.video.shape, generator=generator, dtype=batch.video.dtype)
        noisy = batch.video + 0.01 * noise * batch.video_mask.unsqueeze(-1)
        return base.losses(self, replace(batch, video=noisy), generator=generator, **draws)

    return {"losses": losses}


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


def batch_norm(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.norm = nn.BatchNorm1d(config.video_dim)

    def encode_videos(self, video, mask):
        clips = torch.zeros_like(video)
        clips[mask] = self.norm(video[mask])
        return base.encode_videos(self, clips, mask)

    return {"__init__": __init__, "encode_videos": encode_videos}


def running_mean(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.register_buffer("mean", torch.zeros(config.video_dim))

    def encode_videos(self, video, mask):
        if self.training:
            self.mean.lerp_(video[mask].mean(0).to(self.mean), 0.1)
        return base.encode_videos(self, zero_pads(video - self.mean, mask), mask)

    return {"__init__": __init__, "encode_videos": encode_videos}


HONEST = [
    Variant("videos are encoded one by one", "xml", "", one_by_one),
    Variant("pads hold minus infinity", "conquer", "",
            found(lambda spans, mask: spans._replace(start=spans.start.masked_fill(~mask, -torch.inf)))),
    Variant("the given generator draws noise for the clips in training", "reloclnet", "", noisy_clips),
    Variant("a saved buffer counts the batches", "hero", "", batches_counted),
    Variant("positions are learned", "example", "", learned_positions),
    Variant("a batch norm keeps running statistics", "example", "", batch_norm),
    Variant("a running mean is saved", "example", "", running_mean),
]  # fmt: skip
