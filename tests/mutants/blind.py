"""Broken and honest variants by somebody who had not read the kit: one of each kind that its first checks missed."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F

from mutants.kinds import found, logits
from mutants.registry import Model, Mutation
from verified.benchmark.vcmr.registry import model_class


@dataclass(frozen=True)
class Variant:
    """A subclass of the model called `model`; `check` finds out what is wrong with it, "" where nothing is."""

    name: str
    model: str
    check: str
    function: Mutation

    def cls(self) -> Model:
        base = model_class(self.model)
        return type(f"{base.__name__}Blind", (base,), self.function(base))


BLIND: list[Variant] = []
HONEST: list[Variant] = []


def blind(name: str, model: str, check: str) -> Callable[[Mutation], Mutation]:
    def add(function: Mutation) -> Mutation:
        BLIND.append(Variant(name, model, check, function))
        return function

    return add


def honest(name: str, model: str) -> Callable[[Mutation], Mutation]:
    def add(function: Mutation) -> Mutation:
        HONEST.append(Variant(name, model, "", function))
        return function

    return add


def read_video(base: Model, change: Callable) -> dict:
    """change(clips, mask) before XML's and ReLoCLNet's video encoder; what comes behind it has the true mask."""
    return {"video_features": lambda self, video, mask: base.video_features(self, *change(video, mask))}


@blind("unit vectors are normalised over the clips", "reloclnet", "padding")
def over_clips(base):
    def encode_videos(self, video, mask):
        encoded = base.encode_videos(self, video, mask)
        return {**encoded, "unit": F.normalize(encoded["unit"], dim=1)}

    return {"encode_videos": encode_videos}


@blind("clips are standardised over time: a video of one clip is NaN", "xml", "shapes")
def one_clip(base):
    def standard(video, mask):
        real = mask.unsqueeze(2)
        count = real.sum(dim=1, keepdim=True)
        apart = (video - (video * real).sum(dim=1, keepdim=True) / count) * real
        return apart / (apart.square().sum(dim=1, keepdim=True) / (count - 1)).sqrt(), mask

    return read_video(base, standard)


@blind("the last clip is hidden from attention", "xml", "attention")
def last_clip(base):
    def shortened(video, mask):
        count = mask.sum(dim=1, keepdim=True)
        last = torch.arange(mask.shape[1], device=mask.device) == count - 1
        return video, mask & ~(last & (count > 1))

    return read_video(base, shortened)


@blind("weights overflow to infinity", "xml", "weights")
def infinite_weights(base):
    return {"video_weights": lambda self, scores: torch.exp(500 * scores)}


@blind("weights are rounded to tenths", "conquer", "weights")
def rounded_weights(base):
    return {"video_weights": lambda self, scores: (10 * base.video_weights(self, scores)).round() / 10}


@blind("query vectors are rounded to float16", "reloclnet", "precision")
def rounded_queries(base):
    def encode_queries(self, query, mask):
        encoded = base.encode_queries(self, query, mask)
        return {name: x.half().to(x.dtype) if x.is_floating_point() else x for name, x in encoded.items()}

    return {"encode_queries": encode_queries}


@blind("start logits go through exp and log", "hero", "shapes")
def exp_log_start(base):
    def change(spans):
        return spans._replace(start=torch.where(spans.start > -1e3, spans.start.exp().log(), spans.start))

    return logits(change)(base)


@blind("the end's branch is detached", "xml", "gradients")
def end_detached(base):
    def spans_of(self, *arguments):
        spans = base.spans_of(self, *arguments)
        return spans._replace(end=spans.end.detach()) if self.training else spans

    return {"spans_of": spans_of}


@blind("the start's loss counts pads", "xml", "pads")
def starts_in_pads(base):
    def spans_of(self, first, mask, *rest):
        spans = base.spans_of(self, first, mask, *rest)
        last = spans.start.gather(1, mask.sum(dim=1, keepdim=True) - 1)
        return spans._replace(start=torch.where(mask, spans.start, last)) if self.training else spans

    return {"spans_of": spans_of}


@blind("a seed is fixed when a model is built", "xml", "determinism")
def seeded_init(base):
    def __init__(self, config):
        torch.manual_seed(0)
        base.__init__(self, config)

    return {"__init__": __init__}


@blind("NumPy's global state is seeded", "reloclnet", "repetition")
def numpy_seeded(base):
    def encode_queries(self, query, mask):
        np.random.seed(0)
        return base.encode_queries(self, query, mask)

    return {"encode_queries": encode_queries}


@blind("Python's global state is drawn from", "hero", "determinism")
def python_drawn(base):
    def losses(self, batch, **draws):
        random.random()
        return base.losses(self, batch, **draws)

    return {"losses": losses}


@blind("a mean of the training's videos is no part of the state", "xml", "state")
def training_mean(base):
    def losses(self, batch, **draws):
        mean = batch.video.flatten(0, -2).mean(dim=0)
        self.mean = 0.5 * mean + 0.5 * self.__dict__.get("mean", mean)
        return base.losses(self, batch, **draws)

    def encode_videos(self, video, mask):
        return base.encode_videos(self, video if self.training else video - self.__dict__.get("mean", 0.0), mask)

    return {"losses": losses, "encode_videos": encode_videos}


@blind("queries are compared with a bank of all earlier ones", "xml", "repetition")
def bank(base):
    def encode_queries(self, query, mask):
        encoded = base.encode_queries(self, query, mask)
        self.__dict__.setdefault("bank", []).append(encoded["vector"].detach().mean(dim=0))
        return {**encoded, "unit": encoded["unit"] + 0.1 * torch.stack(self.bank).mean(dim=0)}

    return {"encode_queries": encode_queries}


@blind("encoded videos are cached by their first clip", "xml", "batch_mates")
def cached_by_first_clip(base):
    def encode_videos(self, video, mask):
        first = video[:, 0]
        source = (first[:, None] == first[None]).all(dim=2).int().argmax(dim=1)
        return {**base.encode_videos(self, video[source], mask[source]), "mask": mask}

    return {"encode_videos": encode_videos}


@blind("the option margin is ignored", "reloclnet", "options")
def margin_ignored(base):
    def losses(self, batch, **draws):
        config, self.config = self.config, replace(self.config, margin=0.1)
        terms = base.losses(self, batch, **draws)
        self.config = config
        return terms

    return {"losses": losses}


@blind("the step is ignored where negatives become hard", "hero", "options")
def step_ignored(base):
    return {"losses": lambda self, batch, *, step, **draws: base.losses(self, batch, step=0, **draws)}


@honest("videos are encoded one by one", "xml")
def one_by_one(base):
    def encode_videos(self, video, mask):
        parts = [base.encode_videos(self, video[i : i + 1], mask[i : i + 1]) for i in range(len(video))]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    return {"encode_videos": encode_videos}


@honest("pads hold minus infinity", "conquer")
def infinite_pads(base):
    return found(lambda spans, mask: spans._replace(start=spans.start.masked_fill(~mask, -torch.inf)))(base)


@honest("the given generator draws noise for the clips in training", "reloclnet")
def noisy_clips(base):
    def losses(self, batch, *, generator, **draws):
        noise = torch.randn(batch.video.shape, generator=generator, dtype=batch.video.dtype)
        noisy = batch.video + 0.01 * noise * batch.video_mask.unsqueeze(-1)
        return base.losses(self, replace(batch, video=noisy), generator=generator, **draws)

    return {"losses": losses}


@honest("a saved buffer counts the batches", "hero")
def counted(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.register_buffer("batches", torch.zeros(()))

    def losses(self, batch, **draws):
        if self.training:
            self.batches += 1
        return base.losses(self, batch, **draws)

    return {"__init__": __init__, "losses": losses}


def anneal(base: Model, name: str, use: Callable) -> dict:
    """A value that falls with `step` and is kept as a plain attribute; `use(self, answer)` in the method `name`."""

    def losses(self, batch, *, epoch, step, generator):
        self.annealed = 0.999**step
        return base.losses(self, batch, epoch=epoch, step=step, generator=generator)

    return {"annealed": 1.0, "losses": losses, name: lambda self, *given: use(self, getattr(base, name)(self, *given))}


@blind("a temperature of video scores that is annealed by step is not saved", "xml", "state")
def annealed_scores(base):
    return anneal(base, "video_scores", lambda self, scores: scores / (0.1 + self.annealed))


@blind("a temperature of video weights that is annealed by step is not saved", "xml", "state")
def annealed_weights(base):
    return anneal(base, "video_weights", lambda self, weights: weights ** (1 / (0.1 + self.annealed)))


@blind("a loss is averaged over the pads of videos", "univtg", "padding")
def averaged_over_pads(base):
    def losses(self, batch, *, epoch, step, generator):
        found = base.losses(self, batch, epoch=epoch, step=step, generator=generator)
        share = (batch.video * batch.video_mask.unsqueeze(-1)).square().mean()
        return {**found, "norm": share, "total": found["total"] + share}

    return {"losses": losses}
