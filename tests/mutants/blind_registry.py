"""Broken copies of the six models, written from the contract and the models alone: the check of a kit by a stranger.

The mutations of the other files of this folder were written beside the checks that find them. Those of the files
``blind_*.py`` were written by someone who had not read these checks, so what slips through is news. `MUTATIONS` holds
them in the order of the imports of `blind.py`; each is made for every model that it can break. `HONEST` holds variants
that keep the contract, of which a kit should report nothing.
"""

import types
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Encoded, RetrievalModel, Spans
from verified.benchmark.vcmr.registry import model_class

ONE_VECTOR = ("xml", "reloclnet", "hero")
ONE_STAGE = (*ONE_VECTOR, "late_span")
TWO_STAGE = ("conquer", "squidnet")
ALL = (*ONE_STAGE, *TWO_STAGE)

Base = type[RetrievalModel]
Make = Callable[[Base], dict]
"""From a model's class to the attributes that a subclass replaces."""


@dataclass(frozen=True)
class Mutation:
    """One defect (or, in `HONEST`, one harmless change)."""

    name: str
    """What is wrong."""
    kind: str
    suffers: str
    """What a user would notice, one line."""
    make: Make
    models: tuple[str, ...] = ALL
    shows: str = "answers"
    """The probe of tests/vcmr/test_blind_mutants.py that tells mutant and original apart."""
    option: dict | None = None
    """Options of `Config` with which the probe builds both models; without them the defect does not show."""
    arguable: bool = False
    """Whether the contract's words allow it: a worse model rather than a broken one."""

    def of(self, name: str) -> Base:
        """The mutant of the model called `name`: a subclass of its class, not registered."""
        base = model_class(name)
        return type(f"{base.__name__}Blind", (base,), {**self.make(base), "__module__": __name__, "__doc__": self.name})


MUTATIONS: list[Mutation] = []
HONEST: list[Mutation] = []


def mutation(name: str, kind: str, suffers: str, **facts) -> Callable[[Make], Make]:
    """Decorator of a function from a class to what replaces its attributes."""

    def add(make: Make) -> Make:
        MUTATIONS.append(Mutation(name, kind, suffers, make, **facts))
        return make

    return add


def honest(name: str, **facts) -> Callable[[Make], Make]:
    """As `mutation`, for a variant that must pass."""

    def add(make: Make) -> Make:
        HONEST.append(Mutation(name, "honest", "nothing", make, **facts))
        return make

    return add


def found(change: Callable[[Spans, Tensor], Spans]) -> Make:
    """`change` of the logits and the mask [P, L] of the pairs, in search alone."""

    def make(base: Base) -> dict:
        def span_logits(self, queries, videos, query_index, video_index):
            spans = base.span_logits(self, queries, videos, query_index, video_index)
            return change(spans, videos["mask"][video_index])

        return {"span_logits": span_logits}

    return make


def localised(change: Callable[[Spans, Tensor], Spans], training: bool | None = None) -> Make:
    """`change` of logits and mask in training and search alike, or only where `model.training` is `training`."""

    def make(base: Base) -> dict:
        name = "spans_of" if hasattr(base, "spans_of") else "localise"

        def method(self, first, mask, *rest):
            spans = getattr(base, name)(self, first, mask, *rest)
            return spans if training is not None and self.training != training else change(spans, mask)

        return {name: method}

    return make


def queries_read(change: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Make:
    """`change` of tokens (or ids) and mask before the query encoder reads them."""

    def make(base: Base) -> dict:
        return {"encode_queries": lambda self, query, mask: base.encode_queries(self, *change(query, mask))}

    return make


def videos_read(change: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Make:
    """`change` of clips and mask before the video encoder reads them; what comes behind it has the true mask."""

    def make(base: Base) -> dict:
        name = video_encoder(base)

        def encoder(self, video, mask):
            encoded = getattr(base, name)(self, *change(video, mask))
            return {**encoded, "mask": mask} if isinstance(encoded, dict) else encoded

        return {name: encoder}

    return make


def video_encoder(base: Base) -> str:
    """The method that reads clips both in training and in search."""
    named = ("video_features", "frame_embeddings", "encode_videos")
    return next(name for name in named if hasattr(base, name))


def encoded(side: str, change: Callable[..., Tensor], only: tuple[str, ...] | None = None) -> Make:
    """`change` of each encoding that holds vectors (or of those named `only`); `side` is "queries" or "videos"."""

    def make(base: Base) -> dict:
        def encode(self, x, mask):
            given = getattr(base, f"encode_{side}")(self, x, mask)
            return vectors(given, change, only)

        return {f"encode_{side}": encode}

    return make


def vectors(given: Encoded, change: Callable[[Tensor], Tensor], only: tuple[str, ...] | None = None) -> Encoded:
    """`change` of the encodings that hold vectors."""
    names = only or ("vector", "unit", "localiser", "localised", "tokens")
    return {name: change(tensor) if name in names else tensor for name, tensor in given.items()}


def scored(change: Callable[[Tensor], Tensor]) -> Make:
    """`change` of the video scores [Q, V] of a one-stage model."""
    return lambda base: {"video_scores": lambda self, queries, videos: change(base.video_scores(self, queries, videos))}


def weighed(change: Callable[[RetrievalModel, Tensor, Base], Tensor]) -> Make:
    """Weights of listed videos from the scores [Q, K]."""
    return lambda base: {"video_weights": lambda self, scores: change(self, scores, base)}


def batches(change: Callable[[Batch], Batch]) -> Make:
    """`change` of the batch that the losses read."""
    return losing(lambda self, batch, base, **draws: base.losses(self, change(batch), **draws))


def totals(change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> Make:
    """`change` of the losses."""
    return losing(lambda self, batch, base, **draws: change(base.losses(self, batch, **draws)))


def losing(losses: Callable[..., dict[str, Tensor]]) -> Make:
    """Losses computed by ``losses(model, batch, base, epoch=, step=, generator=)``."""
    return lambda base: {"losses": lambda self, batch, **draws: losses(self, batch, base, **draws)}


def built(finish: Callable[[RetrievalModel], None]) -> Make:
    """`finish` of each new model."""

    def make(base: Base) -> dict:
        def __init__(self, config):
            base.__init__(self, config)
            finish(self)

        return {"__init__": __init__}

    return make


def built_with(**options) -> Make:
    """A model that is built with fixed options, whatever its config says."""

    def make(base: Base) -> dict:
        def __init__(self, config):
            base.__init__(self, replace(config, **options))
            self.config = config

        return {"__init__": __init__}

    return make


def with_names(function: Callable, **names) -> Callable:
    """The same function with other globals, so that a shared helper is replaced for one class alone."""
    copied = types.FunctionType(
        function.__code__, {**function.__globals__, **names}, function.__name__, None, function.__closure__
    )
    copied.__defaults__, copied.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return copied


def lengths(mask: Tensor) -> Tensor:
    """Real positions of each row [N, S] → [N, 1]."""
    return mask.sum(dim=1, keepdim=True)


def places(mask: Tensor) -> Tensor:
    """0 … S − 1, [1, S]."""
    return torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)


def moved(logits: Tensor, mask: Tensor, by: int) -> Tensor:
    """Logits of the real clips `by` clips later; the ends repeat what falls off."""
    source = torch.minimum((places(mask) - by).clamp(min=0), lengths(mask) - 1)
    return torch.where(mask, logits.gather(1, source), logits)


def turned(x: Tensor, mask: Tensor) -> Tensor:
    """Real positions in the opposite order, [N, S] or [N, S, D]."""
    source = torch.where(mask, lengths(mask) - 1 - places(mask), places(mask))
    index = source if x.dim() == 2 else source.unsqueeze(2).expand_as(x)
    return x.gather(1, index)
