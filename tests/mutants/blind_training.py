"""Blind mutations of the losses: labels, gradients, negatives, randomness, sums."""

import random
from dataclasses import replace

import numpy as np
import torch

from mutants.blind_registry import (
    ALL,
    ONE_STAGE,
    batches,
    built,
    lengths,
    localised,
    losing,
    mutation,
    totals,
    video_encoder,
    with_names,
)
from verified.benchmark.vcmr.contract import Encoded

NEVER = "a part of the model keeps its random weights"


def add_labels(name: str, columns: tuple[int, ...], by: int) -> None:
    """The loss reads labels that lie `by` clips later."""

    def change(batch):
        mask = batch.video_mask if batch.video_mask.dim() == 2 else batch.video_mask[:, 0]
        span = batch.span.clone()
        for column in columns:
            span[:, column] = torch.minimum((span[:, column] + by).clamp(min=0), lengths(mask)[:, 0] - 1)
        return replace(batch, span=span)

    when = "late" if by > 0 else "early"
    mutation(
        f"the loss reads {name} one clip too {when}", "label", f"all answers come one clip too {when}", shows="training"
    )(batches(change))


for name, columns in (("starts", (0,)), ("ends", (1,)), ("both labels", (0, 1))):
    for by in (-1, 1):
        add_labels(name, columns, by)


@mutation("the loss exchanges start and end", "label", "spans come out inverted", shows="training")
def exchanged(base):
    return batches(lambda batch: replace(batch, span=batch.span.flip(1)))(base)


@mutation(
    "the loss reads the labels of the next item", "label", "moments are learned from other queries", shows="training"
)
def next_labels(base):
    return batches(lambda batch: replace(batch, span=batch.span.roll(1, dims=0)))(base)


@mutation(
    "labels lie one clip late and beyond the context at its end",
    "label",
    "training stops at some moments",
    shows="declared",
)
def label_late(base):
    return {"label": staticmethod(lambda *moment: tuple(at + 1 for at in base.label(*moment)))}


@mutation("labels lie one clip early", "label", "answers come one clip too early", shows="declared")
def label_early(base):
    return {"label": staticmethod(lambda *moment: tuple(max(at - 1, 0) for at in base.label(*moment)))}


@mutation(
    "labels ignore the number of clips", "label", "a moment at a cut video's end stops the training", shows="declared"
)
def label_unclamped(base):
    return {"label": staticmethod(lambda start, end, seconds, clips: base.label(start, end, seconds, 10**6))}


@mutation("labels ignore the clip's length", "label", "two-second clips: moments at twice their time", shows="declared")
def label_of_seconds(base):
    return {"label": staticmethod(lambda start, end, seconds, clips: base.label(start, end, 1.0, clips))}


@mutation(
    "decoding adds one clip too many",
    "label",
    "every span ends a clip late",
    models=tuple(name for name in ALL if name != "reloclnet"),  # that would be XML's published convention
    shows="declared",
)
def decoded_late(base):
    return {"decoded_end": base.decoded_end + 1}


@mutation(
    "decoding adds one clip too few",
    "label",
    "every span ends a clip early",
    models=tuple(name for name in ALL if name != "xml"),  # that would be ReLoCLNet's published convention
    shows="declared",
)
def decoded_early(base):
    return {"decoded_end": base.decoded_end - 1}


@mutation("the start's branch is detached", "gradient", NEVER, shows="training")
def start_detached(base):
    return localised(lambda spans, mask: spans._replace(start=spans.start.detach()), training=True)(base)


@mutation("the end's branch is detached", "gradient", NEVER, shows="training")
def end_detached(base):
    return localised(lambda spans, mask: spans._replace(end=spans.end.detach()), training=True)(base)


@mutation("the re-scoring head is detached", "gradient", NEVER, models=("squidnet",), shows="training")
def score_detached(base):
    return localised(lambda spans, mask: spans._replace(score=spans.score.detach()), training=True)(base)


def without_gradient(given):
    if isinstance(given, dict):
        return {name: tensor.detach() for name, tensor in given.items()}
    return tuple(t.detach() for t in given) if isinstance(given, tuple) else given.detach()


@mutation("the video encoder is detached", "gradient", NEVER, shows="training")
def videos_detached(base):
    name = video_encoder(base)
    return {name: lambda self, video, mask: without_gradient(getattr(base, name)(self, video, mask))}


@mutation("the query encoder is detached", "gradient", NEVER, shows="training")
def queries_detached(base):
    return {"encode_queries": lambda self, query, mask: without_gradient(base.encode_queries(self, query, mask))}


@mutation("the end's weights are frozen", "gradient", NEVER, shows="training")
def end_frozen(base):
    def freeze(model):
        for name, parameter in model.named_parameters():
            if "video_ed_" in name or "merged_ed_" in name or name.startswith("end.") or "end_" in name:
                parameter.requires_grad_(False)

    return built(freeze)(base)


@mutation("the optimiser is given no biases", "gradient", "the optimiser's groups lack parameters", shows="parameters")
def no_biases(base):
    def named_parameters(self, *args, **options):
        return ((n, p) for n, p in base.named_parameters(self, *args, **options) if not n.endswith("bias"))

    return {"named_parameters": named_parameters}


@mutation("the optimiser is given the first half of the parameters", "gradient", NEVER, shows="parameters")
def half_parameters(base):
    def named_parameters(self, *args, **options):
        named = list(base.named_parameters(self, *args, **options))
        return iter(named[: len(named) // 2])

    return {"named_parameters": named_parameters}


@mutation("the loss is frozen", "gradient", "nothing is learned at all", shows="training")
def frozen(base):
    return totals(lambda losses: {**losses, "total": losses["total"].detach() + 0 * losses["total"]})(base)


@mutation("the loss has the wrong sign", "sign", "training makes the model worse than chance", shows="training")
def negated(base):
    return totals(lambda losses: {name: -value for name, value in losses.items()})(base)


@mutation("the total leaves the spans out", "sum", "moments stay at chance, retrieval is fine", shows="training")
def spans_left_out(base):
    return totals(lambda losses: {**losses, "total": losses["total"] - losses.get("span", losses.get("moment"))})(base)


@mutation(
    "the total leaves out all but the spans",
    "sum",
    "retrieval stays at chance",
    models=(*ONE_STAGE, "squidnet"),
    shows="training",
)
def spans_alone(base):
    return totals(lambda losses: {**losses, "total": losses.get("span", losses.get("moment")) * 1.0})(base)


@mutation("the total counts a part twice", "sum", "logs and training disagree", shows="training")
def counted_twice(base):
    return totals(lambda losses: {**losses, "total": losses["total"] + losses.get("span", losses.get("moment"))})(base)


@mutation("only the first item of a batch is learned from", "batch", "training takes N times as long", shows="training")
def first_item(base):
    return batches(lambda batch: rows(batch, slice(0, 1)))(base)


@mutation(
    "the last item of a batch is never learned from", "batch", "some queries are never trained on", shows="training"
)
def last_item(base):
    return batches(lambda batch: rows(batch, slice(0, max(1, len(batch.query) - 1))))(base)


def rows(batch, some):
    return type(batch)(**{name: value[some] for name, value in vars(batch).items()})


@mutation("queries are paired with the next item's video", "batch", "training learns wrong pairs", shows="training")
def wrong_pairs(base):
    return batches(lambda batch: replace(batch, video=batch.video.roll(1, 0), video_mask=batch.video_mask.roll(1, 0)))(
        base
    )


def in_training(name, change):
    """`change` of the scores that a method gives, in training alone."""

    def make(base):
        def method(self, *args):
            scores = getattr(base, name)(self, *args)
            return change(scores) if self.training else scores

        return {name: method}

    return make


def own(scores):
    """Scores [N, N, …] in which every other video is the own one."""
    at = torch.arange(len(scores))
    return scores[at, at].unsqueeze(1).expand_as(scores)


@mutation(
    "each query's negative is its own video",
    "negatives",
    "retrieval stays at chance",
    models=("xml", "hero", "late_span"),
    shows="training",
)
def own_video(base):
    return in_training("clip_scores" if hasattr(base, "clip_scores") else "video_scores", own)(base)


@mutation(
    "in ReLoCLNet each query's negative is its own video",
    "negatives",
    "retrieval stays at chance",
    models=("reloclnet",),
    shows="training",
)
def own_video_reloclnet(base):
    inner = base.losses.__globals__["max_over_clips"]
    return {"losses": with_names(base.losses, max_over_clips=lambda *args: own(inner(*args)))}


@mutation(
    "the negatives of a list are the truth again",
    "negatives",
    "the shared softmax learns nothing",
    models=("squidnet",),
    shows="training",
)
def truth_as_negative(base):
    return batches(
        lambda batch: replace(
            batch,
            video=batch.video[:, :1].expand_as(batch.video),
            video_mask=batch.video_mask[:, :1].expand_as(batch.video_mask),
        )
    )(base)


@mutation(
    "the negatives of a list are ignored",
    "negatives",
    "re-scoring stays at chance",
    models=("squidnet",),
    shows="training",
)
def negatives_ignored(base):
    return batches(lambda batch: replace(batch, video=batch.video[:, :1], video_mask=batch.video_mask[:, :1]))(base)


@mutation(
    "the negatives of the batch are ignored",
    "negatives",
    "retrieval stays at chance",
    models=ONE_STAGE,
    shows="training",
)
def no_negatives(base):
    def losses(self, batch, base, **draws):
        parts = [base.losses(self, rows(batch, slice(i, i + 1)), **draws) for i in range(len(batch.query))]
        return {name: torch.stack([part[name] for part in parts]).mean() for name in parts[0]}

    return losing(losses)(base)


@mutation(
    "the positive is the next item's video",
    "negatives",
    "retrieval learns the wrong way",
    models=("xml", "hero", "late_span"),
    shows="training",
)
def next_positive(base):
    def flipped(scores):
        return scores.roll(1, dims=1)

    return in_training("clip_scores" if hasattr(base, "clip_scores") else "video_scores", flipped)(base)


@mutation(
    "training hides all clips but the moment's",
    "truth",
    "search meets clips it never learned to reject",
    shows="training",
)
def only_the_moment(base):
    def change(batch):
        first = batch.video_mask if batch.video_mask.dim() == 2 else batch.video_mask[:, 0]
        at = torch.arange(first.shape[1])
        inside = (at >= batch.span[:, :1]) & (at <= batch.span[:, 1:]) & first
        video = batch.video.clone()
        target = video if video.dim() == 3 else video[:, 0]
        target.masked_fill_(~inside.unsqueeze(2), 0.0)
        return replace(batch, video=video)

    return batches(change)(base)


@mutation(
    "training writes the moment into the features", "truth", "loss falls to nothing, search is chance", shows="training"
)
def written_into_features(base):
    def change(batch):
        video = batch.video.clone()
        target = video if video.dim() == 3 else video[:, 0]
        at = torch.arange(len(target))
        target[at, batch.span[:, 0], 0] += 5.0
        target[at, batch.span[:, 1], 1] += 5.0
        return replace(batch, video=video)

    return batches(change)(base)


@mutation(
    "slot 0 gets a bonus in training", "truth", "re-scoring learns nothing", models=("squidnet",), shows="training"
)
def slot_bonus(base):
    def losses(self, batch, base, **draws):
        self.slots = batch.video.shape[1]
        given = base.losses(self, batch, **draws)
        self.slots = None
        return given

    def localise(self, *args):
        spans = base.localise(self, *args)
        if getattr(self, "slots", None) is None:
            return spans
        first = torch.arange(len(spans.score)) % self.slots == 0
        return spans._replace(score=spans.score + 50.0 * first)

    return {**losing(losses)(base), "localise": localise}


@mutation("the model remembers the answers of its training", "truth", "training figures are perfect", shows="schooled")
def remembers(base):
    def losses(self, batch, base, **draws):
        if not hasattr(self, "answers"):
            self.answers = {}
        for query, span in zip(batch.query, batch.span):
            self.answers[query.numpy().tobytes()] = span
        return base.losses(self, batch, **draws)

    def encode_queries(self, query, mask):
        encoded: Encoded = base.encode_queries(self, query, mask)
        found = [getattr(self, "answers", {}).get(row.numpy().tobytes()) for row in query]
        known = torch.tensor([[-1, -1] if span is None else span.tolist() for span in found])
        return {**encoded, "known": known}

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        at, known = torch.arange(spans.start.shape[1]), queries["known"][query_index]
        real = videos["mask"][video_index]
        start = spans.start + 20.0 * ((at == known[:, :1]) & real)
        return spans._replace(start=start, end=spans.end + 20.0 * ((at == known[:, 1:]) & real))

    return {**losing(losses)(base), "encode_queries": encode_queries, "span_logits": span_logits}


@mutation(
    "a seed is fixed when a model is built", "seed", "all seeds give one model: no spread between runs", shows="seeds"
)
def seeded_init(base):
    def __init__(self, config):
        torch.manual_seed(0)
        base.__init__(self, config)

    return {"__init__": __init__}


@mutation("a seed is fixed in the loss", "seed", "dropout hides the same units at each step", shows="globals_training")
def seeded_losses(base):
    def losses(self, batch, base, **draws):
        torch.manual_seed(0)
        return base.losses(self, batch, **draws)

    return losing(losses)(base)


@mutation(
    "a seed is fixed when queries are encoded", "seed", "a search between epochs changes the training", shows="globals"
)
def seeded_encoding(base):
    def encode_queries(self, query, mask):
        torch.manual_seed(0)
        return base.encode_queries(self, query, mask)

    return {"encode_queries": encode_queries}


@mutation(
    "search draws from the global generator", "seed", "a search between epochs changes the training", shows="globals"
)
def draws_in_search(base):
    def encode_videos(self, video, mask):
        torch.rand(1)
        return base.encode_videos(self, video, mask)

    return {"encode_videos": encode_videos}


@mutation("NumPy's global state is seeded", "seed", "other code's draws repeat", shows="globals")
def numpy_seeded(base):
    def encode_queries(self, query, mask):
        np.random.seed(0)
        return base.encode_queries(self, query, mask)

    return {"encode_queries": encode_queries}


@mutation("Python's global state is drawn from", "seed", "other code's draws change", shows="globals_training")
def python_drawn(base):
    def losses(self, batch, base, **draws):
        random.random()
        return base.losses(self, batch, **draws)

    return losing(losses)(base)


@mutation(
    "the loss's draws come from the global generator",
    "seed",
    "a resumed training differs",
    models=("xml", "reloclnet"),
    shows="generator",
)
def global_draws(base):
    def losses(self, batch, base, *, epoch, step, generator):
        return base.losses(self, batch, epoch=epoch, step=step, generator=torch.default_generator)

    return losing(losses)(base)


@mutation(
    "the given generator is seeded anew at each step", "seed", "every step draws the same negatives", shows="generator"
)
def reseeded(base):
    def losses(self, batch, base, *, epoch, step, generator):
        generator.manual_seed(0)
        return base.losses(self, batch, epoch=epoch, step=step, generator=generator)

    return losing(losses)(base)


@mutation("training adds noise that no seed names", "seed", "two runs of one seed differ", shows="again")
def unseeded(base):
    def losses(self, batch, base, **draws):
        own_generator = torch.Generator()
        own_generator.seed()
        noise = torch.randn(batch.video.shape, generator=own_generator)
        return base.losses(self, replace(batch, video=batch.video + 0.01 * noise), **draws)

    return losing(losses)(base)


@mutation(
    "the loss counts its own calls instead of steps",
    "state",
    "a resumed training starts its schedule again",
    shows="again",
)
def own_count(base):
    def losses(self, batch, base, **draws):
        self.calls = getattr(self, "calls", 0) + 1
        given = base.losses(self, batch, **draws)
        return {name: value * min(1.0, self.calls / 100) for name, value in given.items()}

    return losing(losses)(base)


@mutation(
    "the model stops learning by itself",
    "state",
    "training freezes where losses stall, and resumes differ",
    shows="again",
)
def stops(base):
    def losses(self, batch, base, **draws):
        given = base.losses(self, batch, **draws)
        total = float(given["total"].detach())
        self.stalled = 0 if total < getattr(self, "best", float("inf")) else getattr(self, "stalled", 0) + 1
        self.best = min(total, getattr(self, "best", float("inf")))
        return {name: value * 0 if self.stalled >= 3 else value for name, value in given.items()}

    return losing(losses)(base)


@mutation(
    "the epoch is ignored where negatives become hard",
    "config",
    "hard negatives never begin",
    models=("xml", "reloclnet"),
    shows="late_epoch",
)
def epoch_ignored(base):
    def losses(self, batch, base, *, epoch, step, generator):
        return base.losses(self, batch, epoch=0, step=step, generator=generator)

    return losing(losses)(base)


@mutation(
    "the step is ignored where negatives become hard",
    "config",
    "hard negatives never begin",
    models=("hero",),
    shows="late_epoch",
)
def step_ignored(base):
    def losses(self, batch, base, *, epoch, step, generator):
        return base.losses(self, batch, epoch=epoch, step=0, generator=generator)

    return losing(losses)(base)


@mutation(
    "two-stage losses see one query's list for all",
    "batch",
    "negatives of others are learned",
    models=("squidnet",),
    shows="training",
)
def list_of_first(base):
    def change(batch):
        video, mask = batch.video.clone(), batch.video_mask.clone()
        video[:, 1:], mask[:, 1:] = batch.video[:1, 1:], batch.video_mask[:1, 1:]
        return replace(batch, video=video, video_mask=mask)

    return batches(change)(base)
