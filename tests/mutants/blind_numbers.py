"""Blind mutations of numbers: rounding, overflow, what is not a number, normalisation, temperature, formats."""

from types import SimpleNamespace

import torch
import torch.nn.functional as F

from mutants.blind_registry import (
    ONE_STAGE,
    ONE_VECTOR,
    TWO_STAGE,
    encoded,
    found,
    lengths,
    localised,
    losing,
    mutation,
    queries_read,
    scored,
    totals,
    videos_read,
    weighed,
    with_names,
)
from verified.benchmark.vcmr.contract import Spans

HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def add_roundings(name: str, half: torch.dtype) -> None:
    """Mutations that round one quantity to 16 bits and back."""
    ties = "neighbours in a ranking become ties, whose order is chance"

    def rounded(x):
        return x.to(half).to(x.dtype)

    mutation(f"query vectors are rounded to {name}", "rounding", ties)(encoded("queries", rounded))
    mutation(f"clip vectors are rounded to {name}", "rounding", ties)(encoded("videos", rounded))
    mutation(f"start logits are rounded to {name}", "rounding", ties)(
        found(lambda spans, mask: spans._replace(start=torch.where(mask, rounded(spans.start), spans.start)))
    )
    mutation(f"end logits are rounded to {name}", "rounding", ties)(
        found(lambda spans, mask: spans._replace(end=torch.where(mask, rounded(spans.end), spans.end)))
    )
    mutation(f"video scores are rounded to {name}", "rounding", ties, models=ONE_STAGE)(scored(rounded))


for name, half in HALVES.items():
    add_roundings(name, half)


@mutation("re-scored videos are rounded to bfloat16", "rounding", "listed videos become ties", models=("squidnet",))
def rounded_rescores(base):
    return localised(lambda spans, mask: spans._replace(score=spans.score.bfloat16().to(spans.score)))(base)


@mutation("weights are rounded to whole numbers", "rounding", "near videos count alike")
def whole_weights(base):
    return weighed(lambda self, scores, base: (10 * base.video_weights(self, scores)).round() / 10)(base)


@mutation(
    "clip vectors are kept as float16 that overflows", "overflow", "one bright clip makes all scores NaN", shows="large"
)
def short_vectors(base):
    return encoded("videos", lambda x: (x * 2e4).half().to(x.dtype) / 2e4, ("localised", "tokens"))(base)


@mutation("start logits go through exp and log", "overflow", "a confident model answers NaN", shows="large")
def exp_log_start(base):
    return found(lambda spans, mask: spans._replace(start=torch.where(mask, spans.start.exp().log(), spans.start)))(
        base
    )


@mutation("end logits go through exp and log", "overflow", "a confident model answers NaN", shows="large")
def exp_log_end(base):
    return found(lambda spans, mask: spans._replace(end=torch.where(mask, spans.end.exp().log(), spans.end)))(base)


@mutation(
    "the loss's softmax has no maximum taken off", "overflow", "a confident model's training stops", shows="large"
)
def plain_softmax(base):
    def change(spans, mask):
        plain = [field.exp() / field.exp().sum(dim=1, keepdim=True) for field in spans[:2]]
        return Spans(*(p.log().where(mask, f) for p, f in zip(plain, spans)), spans.score)

    return localised(change)(base)


@mutation(
    "weights overflow to infinity", "overflow", "the best videos all weigh the same: infinitely much", models=ONE_STAGE
)
def infinite_weights(base):
    return weighed(lambda self, scores, base: torch.exp(500 * scores))(base)


@mutation("weights underflow to zero", "overflow", "moments vanish from the list", models=ONE_STAGE)
def zero_weights(base):
    return weighed(lambda self, scores, base: torch.exp(500 * (scores - 2)))(base)


def standard(x, mask):
    """Clips minus their mean over their sample deviation: not a number for one clip."""
    count = lengths(mask).unsqueeze(2).to(x.dtype)
    x = x.masked_fill(~mask.unsqueeze(2), 0.0)
    mean = x.sum(dim=1, keepdim=True) / count
    square = ((x - mean) ** 2).masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1, keepdim=True)
    return (x - mean) / (square / (count - 1)).sqrt()


@mutation("clips are standardised over time: a video of one clip is NaN", "nan", "one short video corrupts every list")
def one_clip(base):
    return videos_read(lambda video, mask: (standard(video, mask), mask))(base)


@mutation(
    "words are standardised: a query of one word is NaN",
    "nan",
    "one-word searches answer nothing",
    models=tuple(name for name in (*ONE_STAGE, *TWO_STAGE) if name != "hero"),
)
def one_word(base):
    return queries_read(lambda query, mask: (standard(query, mask), mask))(base)


@mutation("logits are standardised over time: one clip is NaN", "nan", "SVMR of short videos is lost")
def one_logit(base):
    def change(spans, mask):
        return spans._replace(start=torch.where(mask, standard(spans.start.unsqueeze(2), mask).squeeze(2), spans.start))

    return found(change)(base)


@mutation(
    "vectors are divided by their length without a floor",
    "nan",
    "a zero vector makes NaN",
    models=ONE_STAGE,
    shows="zeroed",
)
def no_floor(base):
    def change(base_encode):
        return with_names(base_encode, unit=lambda x, eps=0.0: x / x.norm(dim=-1, keepdim=True))

    return {"encode_queries": change(base.encode_queries), "encode_videos": change(base.encode_videos)}


@mutation("a batch of one costs NaN", "nan", "an epoch's last batch ends the training", shows="single")
def lonely(base):
    return losing(
        lambda self, batch, base, **draws: (
            lambda losses, others: {**losses, "total": losses["total"] + 0 * (others.sum() / others.numel())}
        )(base.losses(self, batch, **draws), torch.zeros(len(batch.query) - 1))
    )(base)


@mutation(
    "unit vectors are normalised over the clips",
    "normalisation",
    "a clip's score depends on other clips",
    models=ONE_VECTOR,
)
def over_clips(base):
    def encode_videos(self, video, mask):
        return with_names(base.encode_videos, unit=lambda x, eps=0.0: F.normalize(x, dim=1))(self, video, mask)

    return {"encode_videos": encode_videos}


@mutation(
    "unit vectors are normalised over the queries", "normalisation", "scores depend on who else asks", models=ONE_STAGE
)
def over_queries(base):
    return {"encode_queries": with_names(base.encode_queries, unit=lambda x, eps=0.0: F.normalize(x, dim=0))}


@mutation(
    "unit vectors are normalised over the videos", "normalisation", "scores depend on the block", models=ONE_STAGE
)
def over_videos(base):
    return {"encode_videos": with_names(base.encode_videos, unit=lambda x, eps=0.0: F.normalize(x, dim=0))}


@mutation("queries are not normalised", "normalisation", "long vectors weigh more", models=ONE_STAGE, arguable=True)
def raw_queries(base):
    return {"encode_queries": with_names(base.encode_queries, unit=lambda x, eps=0.0: x)}


@mutation("clips are not normalised", "normalisation", "loud clips win every search", models=ONE_STAGE, arguable=True)
def raw_clips(base):
    return {"encode_videos": with_names(base.encode_videos, unit=lambda x, eps=0.0: x)}


@mutation(
    "scores are a softmax over the videos of the block",
    "normalisation",
    "ranks across blocks mean nothing",
    models=ONE_STAGE,
)
def softmax_videos(base):
    return scored(lambda scores: scores.softmax(dim=1))(base)


@mutation(
    "scores are a softmax over the queries of the chunk",
    "normalisation",
    "an answer depends on who else asks",
    models=ONE_STAGE,
)
def softmax_queries(base):
    return scored(lambda scores: scores.softmax(dim=0))(base)


@mutation("logits are normalised over the pairs", "normalisation", "a moment depends on which videos are listed")
def over_pairs(base):
    def change(spans, mask):
        mean = spans.start.masked_fill(~mask, 0.0).mean(dim=0, keepdim=True)
        return spans._replace(start=torch.where(mask, spans.start - mean, spans.start))

    return found(change)(base)


@mutation(
    "the temperature's sign is wrong in the weights",
    "temperature",
    "the worst listed video wins",
    models=("late_span",),
)
def weights_temperature(base):
    return weighed(lambda self, scores, base: torch.exp(-scores / self.log_temperature.exp()))(base)


@mutation(
    "the temperature multiplies in search", "temperature", "weights are flat", models=("late_span",), arguable=True
)
def multiplied(base):
    return weighed(lambda self, scores, base: torch.exp(scores * self.log_temperature.exp()))(base)


@mutation(
    "the loss has the wrong sign of the temperature",
    "temperature",
    "training drives pairs apart",
    models=("late_span",),
    shows="training",
)
def loss_temperature(base):
    return {
        "clip_scores": lambda self, queries, videos: base.clip_scores(self, queries, videos).mul(
            -1.0 if self.training else 1.0
        )
    }


@mutation("alpha's sign is wrong", "temperature", "moments of the worst video come first", models=ONE_VECTOR)
def negative_alpha(base):
    return weighed(lambda self, scores, base: torch.exp(-self.config.alpha * scores))(base)


@mutation("logits are so cold that one clip takes everything", "temperature", "one span per video is left of a list")
def cold(base):
    return found(
        lambda spans, mask: spans._replace(
            start=torch.where(mask, 1e5 * spans.start, spans.start), end=torch.where(mask, 1e5 * spans.end, spans.end)
        )
    )(base)


@mutation(
    "clips' unit vectors come out in float64",
    "format",
    "the corpus takes more memory",
    models=ONE_STAGE,
    shows="formats",
    arguable=True,
)
def doubled(base):
    return encoded("videos", lambda x: x.double(), ("unit",))(base)


@mutation("clips are moved to the CPU", "format", "on a GPU the first search stops", shows="device")
def on_cpu(base):
    return videos_read(lambda video, mask: (video.cpu(), mask.cpu()))(base)


@mutation("queries are moved to the CPU", "format", "on a GPU the first search stops", shows="device")
def query_on_cpu(base):
    return queries_read(lambda query, mask: (query.cpu(), mask.cpu()))(base)


@mutation("a buffer is always float32", "format", "bfloat16 training stops", shows="autocast")
def float_buffer(base):
    def change(spans, mask):
        buffer = torch.zeros(spans.start.shape)
        half = torch.ones(1, 1, dtype=torch.float32)
        column = (half @ half).expand(len(buffer), 1) * spans.start[:, :1].detach()
        buffer.index_copy_(1, torch.tensor([0]), column.to((half @ half).dtype))
        return spans._replace(start=spans.start + 0 * buffer)

    return localised(change)(base)


@mutation("losses are computed in bfloat16", "rounding", "small gradients vanish", shows="training", arguable=True)
def coarse_losses(base):
    return totals(lambda losses: {name: value.bfloat16().to(value.dtype) for name, value in losses.items()})(base)


@mutation(
    "the span's cross entropy is rounded to float16",
    "rounding",
    "training is noisy",
    models=("xml", "reloclnet", "hero", "late_span"),
    shows="training",
    arguable=True,
)
def coarse_spans(base):
    namespace = SimpleNamespace(**vars(F))
    namespace.cross_entropy = lambda scores, target: F.cross_entropy(scores.half().float().clamp(min=-1e4), target)
    return {"losses": with_names(base.losses, F=namespace)}
