"""Honest variants: other ways to write, train or start a model that keep the contract. A kit should report none."""

import torch
from torch import nn
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

from mutants.blind_registry import (
    ONE_STAGE,
    ONE_VECTOR,
    batches,
    built,
    encoded,
    found,
    honest,
    localised,
    losing,
    scored,
    weighed,
)
from verified.benchmark.vcmr.contract import Spans


@honest("a subclass that changes nothing")
def same(base):
    return {}


@honest("encoders compute in float64")
def in_double(base):
    def forward(self, name, *args):
        return getattr(base, name)(self, *args)

    def encode(name):
        def method(self, x, mask):
            weights = {key: p.double() for key, p in self.named_parameters()}
            given = functional_call(self, weights, (name, x.double() if x.is_floating_point() else x, mask))
            return {key: t.float() if t.is_floating_point() else t for key, t in given.items()}

        return method

    return {"forward": forward, "encode_queries": encode("encode_queries"), "encode_videos": encode("encode_videos")}


@honest("videos are encoded in reverse order and put back")
def reversed_batch(base):
    def encode_videos(self, video, mask):
        given = base.encode_videos(self, video.flip(0), mask.flip(0))
        return {name: tensor.flip(0) for name, tensor in given.items()}

    return {"encode_videos": encode_videos}


@honest("videos are encoded one by one")
def one_by_one(base):
    def encode_videos(self, video, mask):
        parts = [base.encode_videos(self, video[i : i + 1], mask[i : i + 1]) for i in range(len(video))]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    return {"encode_videos": encode_videos}


@honest("pairs are localised in three parts")
def three_parts(base):
    def span_logits(self, queries, videos, query_index, video_index):
        size = max(1, -(-len(query_index) // 3))
        parts = [
            base.span_logits(self, queries, videos, q, v)
            for q, v in zip(query_index.split(size), video_index.split(size))
        ]
        return Spans(*(None if field[0] is None else torch.cat(field) for field in zip(*parts)))

    return {"span_logits": span_logits}


@honest("weights start from a wider normal distribution")
def wider_start(base):
    def widen(model):
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.05)

    return built(widen)(base)


@honest("weights start from Xavier's uniform distribution")
def xavier(base):
    def start(model):
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    return built(start)(base)


@honest("position tables are stored in reverse order")
def reversed_tables(base):
    def turn(model):
        for name, parameter in model.named_parameters():
            if name.endswith("position_embeddings.weight"):
                parameter.data = parameter.data.flip(0)

    return built(turn)(base)


@honest("a learned gain multiplies start and end logits")
def gain(base):
    def add(model):
        model.gain = nn.Parameter(torch.ones(2))

    change = localised(lambda spans, mask: spans)(base)
    name = next(iter(change))

    def method(self, first, mask, *rest):
        spans = getattr(base, name)(self, first, mask, *rest)
        start, end = (torch.where(mask, f * g, f) for f, g in zip(spans[:2], self.gain))
        return spans._replace(start=start, end=end)

    return {**built(add)(base), name: method}


@honest("a constant is added to all logits of real clips")
def shifted_logits(base):
    def change(spans, mask):
        return spans._replace(start=torch.where(mask, spans.start + 3.0, spans.start))

    return localised(change)(base)


@honest("pads hold −30000")
def other_pads(base):
    return found(
        lambda spans, mask: spans._replace(
            start=spans.start.masked_fill(~mask, -3e4), end=spans.end.masked_fill(~mask, -3e4)
        )
    )(base)


@honest("pads hold minus infinity")
def infinite_pads(base):
    return found(
        lambda spans, mask: spans._replace(
            start=spans.start.masked_fill(~mask, -torch.inf), end=spans.end.masked_fill(~mask, -torch.inf)
        )
    )(base)


@honest("weights are those of the original divided by e", models=ONE_STAGE, shows="scale")
def smaller_weights(base):
    return weighed(lambda self, scores, base: base.video_weights(self, scores) / 2.718281828)(base)


@honest("scores are moved and stretched", models=ONE_VECTOR, shows="scale")
def stretched_scores(base):
    return scored(lambda scores: 1.5 * scores + 0.25)(base)


@honest("dropout is 0.3")
def more_dropout(base):
    return {"small": {**base.small, "dropout": 0.3}}


@honest("the small model is wider")
def wider(base):
    return {"small": {**base.small, "hidden": base.small["hidden"] * 2}}


@honest("the loss has one more term: the squared size of its parameters")
def regularised(base):
    def losses(self, batch, base, **draws):
        given = base.losses(self, batch, **draws)
        size = 1e-6 * sum((parameter**2).sum() for parameter in self.parameters())
        return {**given, "size": size, "total": given["total"] + size}

    return losing(losses)(base)


@honest("the given generator draws noise for the clips in training")
def drawn_noise(base):
    def losses(self, batch, base, *, epoch, step, generator):
        noise = torch.randn(batch.video.shape, generator=generator).to(batch.video)
        noisy = type(batch)(**{**vars(batch), "video": batch.video + 0.01 * noise})
        return base.losses(self, noisy, epoch=epoch, step=step, generator=generator)

    return losing(losses)(base)


@honest("a saved buffer counts the batches")
def counting(base):
    def add(model):
        model.register_buffer("batches", torch.zeros((), dtype=torch.int64))

    def losses(self, batch, base, **draws):
        self.batches += 1
        return base.losses(self, batch, **draws)

    return {**built(add)(base), **losing(losses)(base)}


@honest("encoders recompute in the backward pass")
def recomputing(base):
    def encode_videos(self, video, mask):
        if not self.training:
            return base.encode_videos(self, video, mask)
        return checkpoint(lambda x, m: base.encode_videos(self, x, m), video, mask, use_reentrant=False)

    return {"encode_videos": encode_videos}


@honest("encodings lie in memory with gaps")
def with_gaps(base):
    def gaps(x):
        wide = torch.stack([x, x], dim=-1)
        return wide[..., 0]

    return encoded("videos", gaps)(base)


@honest("the batch is copied before it is used")
def copied(base):
    return batches(lambda batch: type(batch)(**{name: value.clone() for name, value in vars(batch).items()}))(base)


@honest("the model keeps a memory that it clears before each call")
def cleared_memory(base):
    def encode_queries(self, query, mask):
        self.__dict__["seen"] = []
        given = base.encode_queries(self, query, mask)
        self.seen.append(len(query))
        return given

    return {"encode_queries": encode_queries}


@honest("encoded videos are cached by their content and the weights")
def right_cache(base):
    def encode_videos(self, video, mask):
        if self.training or torch.is_grad_enabled():
            return base.encode_videos(self, video, mask)
        weights = [tensor.cpu().numpy().tobytes() for tensor in self.state_dict().values()]
        key = (video.cpu().numpy().tobytes(), mask.cpu().numpy().tobytes(), tuple(video.shape))
        kept = self.__dict__.get("kept")
        if kept is None or kept[0] != key or kept[1] != weights:
            self.__dict__["kept"] = kept = key, weights, base.encode_videos(self, video, mask)
        return {name: tensor.clone() for name, tensor in kept[2].items()}

    return {"encode_videos": encode_videos}
