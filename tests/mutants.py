"""Subtly broken copies of the five models, generated: each mutation is put into every model that it can break.

`mutants()` gives them all; `killed_by` says which check of the conformance kit finds one out. As a program it writes
the table of docs/conformance.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import dropout

from verified.retrieval.conformance import failures
from verified.retrieval.contract import Batch, RetrievalModel, Spans
from verified.retrieval.registry import model_class
from verified.retrieval.scoring import PAD

ONE_STAGE = ("xml", "reloclnet", "hero")
TWO_STAGE = ("conquer", "squidnet")
ALL = ONE_STAGE + TWO_STAGE

Model = type[RetrievalModel]
Mutation = Callable[[Model], dict]
"""From a model to the attributes of its broken subclass."""


@dataclass
class Entry:
    """One mutation: what is broken, in which models, how, and whether it takes a training to see it."""

    what: str
    models: tuple[str, ...]
    function: Mutation
    trained: bool


MUTATIONS: list[Entry] = []


@dataclass
class Mutant:
    """One mutation in one model."""

    model: str
    what: str
    cls: Model


def mutation(what: str, models: tuple[str, ...] = ALL, trained: bool = False) -> Callable[[Mutation], Mutation]:
    def add(function: Mutation) -> Mutation:
        MUTATIONS.append(Entry(what, models, function, trained))
        return function

    return add


def mutants() -> Iterator[Mutant]:
    """Every mutation in every model that it can break."""
    for entry in MUTATIONS:
        for model in entry.models:
            yield mutant(entry, model)


def some_mutants() -> Iterator[Mutant]:
    """Every mutation in two models, in turns; those that only a training shows in the quickest one."""
    for turn, entry in enumerate(MUTATIONS):
        if entry.trained:
            yield mutant(entry, entry.models[0])
            continue
        for step in range(0, min(len(entry.models), 4), 2):
            yield mutant(entry, entry.models[(turn + step) % len(entry.models)])


def mutant(entry: Entry, model: str) -> Mutant:
    base = model_class(model)
    return Mutant(model, entry.what, type(f"Mutant{base.__name__}", (base,), entry.function(base)))


def killed_by(mutant: Mutant) -> tuple[str, str] | None:
    """The first check that fails and its reason; None for a survivor."""
    return next(((check, reason) for check, reason in failures(mutant.cls) if reason), None)


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


def learning_from(change: Callable[[Batch], Batch]) -> Mutation:
    """A mutation of the batch that the losses see."""

    def attributes(base: Model) -> dict:
        return {"losses": lambda self, batch, **more: base.losses(self, change(batch), **more)}

    return attributes


def losing(change: Callable[[dict, Batch, int], torch.Tensor]) -> Mutation:
    """A mutation of the losses: a further term change(losses, batch, epoch), counted in the total."""

    def attributes(base: Model) -> dict:
        def losses(self, batch, *, epoch, step, generator):
            found = base.losses(self, batch, epoch=epoch, step=step, generator=generator)
            term = change(found, batch, epoch)
            return {**found, "term": term, "total": found["total"] + term}

        return {"losses": losses}

    return attributes


# What is encoded together


@mutation("encoded clips are centred over the videos of the batch")
def centred_videos(base):
    return encoding("videos", lambda x, values, mask: x - x.mean(dim=0))(base)


@mutation("encoded queries are centred over the batch")
def centred_queries(base):
    return encoding("queries", lambda x, values, mask: x - x.mean(dim=0))(base)


@mutation("encoded clips are divided by the largest of the batch")
def scaled_by_the_batch(base):
    return encoding("videos", lambda x, values, mask: x / x.abs().max())(base)


@mutation("clip vectors of the video score are centred over the batch", ONE_STAGE)
def centred_scores(base):
    def encode_videos(self, video, mask):
        encoded = base.encode_videos(self, video, mask)
        return {**encoded, "unit": encoded["unit"] - encoded["unit"].mean(dim=0)}

    return {"encode_videos": encode_videos}


@mutation("a video's encoding hangs on its position in the batch")
def position_in_the_batch(base):
    def change(x, values, mask):
        return x + 0.05 * torch.randn(len(x), *x.shape[1:], generator=torch.Generator().manual_seed(1), dtype=x.dtype)

    return encoding("videos", change)(base)


@mutation("starts are centred over the pairs at hand")
def centred_pairs(base):
    return logits(lambda spans: spans._replace(start=spans.start - spans.start.mean(dim=0)))(base)


@mutation("new scores are centred over the pairs at hand", ("squidnet",))
def centred_rescoring(base):
    return logits(lambda spans: spans._replace(score=spans.score - spans.score.mean()))(base)


@mutation("every pair is localised with the first query of the chunk")
def first_query(base):
    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, videos, torch.zeros_like(query_index), video_index)

    return {"span_logits": span_logits}


@mutation("spans come from the videos that were encoded last")
def stale_videos(base):
    def encode_videos(self, video, mask):
        self.last = base.encode_videos(self, video, mask)
        return self.last

    def span_logits(self, queries, videos, query_index, video_index):
        return base.span_logits(self, queries, self.last, query_index, video_index % len(self.last["mask"]))

    return {"encode_videos": encode_videos, "span_logits": span_logits}


# Pads


@mutation("clips are scaled by the mean over all, pads included")
def mean_with_video_pads(base):
    return encoding("videos", lambda x, values, mask: x * (1 + values.mean(dim=(1, 2))[:, None, None]))(base)


@mutation("a query is scaled by the mean over its tokens, pads included")
def mean_with_query_pads(base):
    def change(x, values, mask):
        mean = values.to(x.dtype).flatten(1).mean(dim=1)
        return x * (1 + mean).view(-1, *[1] * (x.dim() - 1))

    return encoding("queries", change)(base)


@mutation("the video encoder sees pads as clips")
def video_mask_forgotten(base):
    def encode_videos(self, video, mask):
        return {**base.encode_videos(self, video, torch.ones_like(mask)), "mask": mask}

    return {"encode_videos": encode_videos}


@mutation("the query encoder sees pads as tokens")
def query_mask_forgotten(base):
    def encode_queries(self, query, mask):
        return base.encode_queries(self, query, torch.ones_like(mask))

    return {"encode_queries": encode_queries}


@mutation("pads are open for ends")
def open_ends(base):
    return logits(lambda spans: spans._replace(end=spans.end.clamp(min=-5)))(base)


# What is read


@mutation("the last token of a query is not read")
def last_token_unread(base):
    def encode_queries(self, query, mask):
        shorter = mask & torch.cat([mask[:, 1:], torch.zeros_like(mask[:, :1])], dim=1)
        return base.encode_queries(self, query, torch.where(mask.sum(1, keepdim=True) > 1, shorter, mask))

    return {"encode_queries": encode_queries}


@mutation("the longest queries lose a token")
def longest_query_cut(base):
    def encode_queries(self, query, mask):
        cut = mask.clone()
        cut[:, -1] = False
        return base.encode_queries(self, query, cut)

    return {"encode_queries": encode_queries}


@mutation("the first clip of a video is not read")
def first_clip_unread(base):
    def encode_videos(self, video, mask):
        video = video.clone()
        video[:, 0] = 0
        return base.encode_videos(self, video, mask)

    return {"encode_videos": encode_videos}


@mutation("a query is divided by the deviation of its tokens, which one token has not")
def deviation_of_one_token(base):
    def change(x, values, mask):
        values = values.to(x.dtype).reshape(*values.shape[:2], -1)
        deviation = torch.stack([row[real].std(dim=0).mean() for row, real in zip(values, mask)])
        return x / (1 + deviation).view(-1, *[1] * (x.dim() - 1))

    return encoding("queries", change)(base)


# Spans and labels


@mutation("starts and ends are swapped at search", trained=True)
def swapped(base):
    return logits(lambda spans: spans._replace(start=spans.end, end=spans.start))(base)


@mutation("ends come out one clip late", trained=True)
def late_ends(base):
    def change(spans):
        late = torch.cat([spans.end[:, :1], spans.end[:, :-1]], dim=1)
        return spans._replace(end=torch.where(spans.end > -1e3, late, spans.end))

    return logits(change)(base)


@mutation("the best start is the worst", trained=True)
def reversed_starts(base):
    return logits(lambda spans: spans._replace(start=torch.where(spans.start > -1e3, -spans.start, PAD)))(base)


@mutation("labels start one clip late")
def late_labels(base):
    def label(start, end, seconds, clips):
        first, last = base.label(start, end, seconds, clips)
        return min(first + 1, last), last

    return {"label": staticmethod(label)}


@mutation("labels take seconds for clips")
def seconds_for_clips(base):
    return {"label": staticmethod(lambda start, end, seconds, clips: base.label(start, end, 1.0, clips))}


@mutation("spans are decoded a clip off")
def decoded_off(base):
    # One later than XML's published end, and one earlier than the others'.
    return {"decoded_end": 2 if base.__name__ == "XML" else base.decoded_end - 1}


# Ranking of videos


@mutation("the worst video is the best at search", ("xml", "reloclnet", "hero", "squidnet"), trained=True)
def reversed_ranking(base):
    if base.two_stage:
        return logits(lambda spans: spans._replace(score=-spans.score))(base)

    def video_scores(self, queries, videos):
        scores = base.video_scores(self, queries, videos)
        return scores if torch.is_grad_enabled() else -scores

    return {"video_scores": video_scores}


@mutation("all videos weigh the same")
def equal_weights(base):
    return {"video_weights": lambda self, scores: torch.ones_like(scores)}


@mutation("weights are a softmax over the queries")
def weights_over_queries(base):
    return {"video_weights": lambda self, scores: torch.softmax(scores, dim=0)}


# Losses


@mutation("a loss is counted twice in the total")
def counted_twice(base):
    def losses(self, batch, **more):
        found = base.losses(self, batch, **more)
        return {**found, "total": found["total"] + next(iter(found.values()))}

    return {"losses": losses}


@mutation("ends learn the labels of starts", trained=True)
def ends_learn_starts(base):
    return learning_from(lambda batch: replace(batch, span=batch.span[:, :1].expand(-1, 2)))(base)


@mutation("queries learn from the moment of their neighbour", trained=True)
def neighbours_moment(base):
    return learning_from(lambda batch: replace(batch, span=batch.span.roll(1, dims=0)))(base)


@mutation("queries are paired with their neighbour's video", ONE_STAGE, trained=True)
def neighbours_video(base):
    def change(batch):
        video, mask = batch.video.roll(1, dims=0), batch.video_mask.roll(1, dims=0)
        return replace(batch, video=video, video_mask=mask, span=batch.span.roll(1, dims=0))

    return learning_from(change)(base)


@mutation("a negative stands in the slot of the true video", ("squidnet",), trained=True)
def slots_mixed_up(base):
    def change(batch):
        return replace(batch, video=batch.video.roll(1, dims=1), video_mask=batch.video_mask.roll(1, dims=1))

    return learning_from(change)(base)


@mutation("the batch is changed in place")
def batch_in_place(base):
    def change(batch):
        batch.video.mul_(1.1)
        return batch

    return learning_from(change)(base)


@mutation("a deviation over the batch, which one pair has not, is part of the loss")
def deviation_of_one_pair(base):
    def change(losses, batch, epoch):
        return 0.01 * batch.query.to(torch.float32).std(dim=0).mean() * losses["total"]

    return losing(change)(base)


@mutation("the loss of late epochs is divided by zero")
def late_epochs(base):
    return losing(lambda losses, batch, epoch: losses["total"] / (0 if epoch > 100 else 100))(base)


@mutation("the loss draws from torch's global generator")
def global_draws(base):
    return losing(lambda losses, batch, epoch: 0.01 * torch.rand(()) * losses["total"])(base)


@mutation("the loss draws from numpy's global generator")
def numpy_draws(base):
    return losing(lambda losses, batch, epoch: 0.01 * float(np.random.rand()) * losses["total"])(base)


@mutation("a layer is never used")
def spare_layer(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.spare = nn.Linear(3, 3)

    return {"__init__": __init__}


@mutation("no gradient reaches the query encoder")
def detached_queries(base):
    def encode_queries(self, query, mask):
        return {name: value.detach() for name, value in base.encode_queries(self, query, mask).items()}

    return {"encode_queries": encode_queries}


# Memory, precision, state


@mutation("dropout acts on the logits in evaluation too")
def dropout_in_evaluation(base):
    return logits(lambda spans: spans._replace(start=dropout(spans.start, 0.1, training=True)))(base)


@mutation("logits are rounded to bfloat16")
def rounded_logits(base):
    return logits(lambda spans: spans._replace(end=spans.end.bfloat16().to(spans.end.dtype)))(base)


@mutation("scoring scales the encoded videos in place")
def videos_in_place(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        videos[for_spans(videos, "videos")].mul_(1.0001)
        return spans

    return {"span_logits": span_logits}


@mutation("a running mean goes on in evaluation")
def running_mean(base):
    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        self.mean = 0.9 * getattr(self, "mean", 0.0) + 0.1 * float(spans.start[:, 0].mean())
        return spans._replace(start=spans.start * (1 + self.mean))

    return {"span_logits": span_logits}


@mutation("a running mean of training is kept outside the state")
def lost_running_mean(base):
    def losses(self, batch, **more):
        if self.training:
            self.mean = 0.9 * getattr(self, "mean", 1.0) + 0.05
        return base.losses(self, batch, **more)

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return spans._replace(start=spans.start * getattr(self, "mean", 1.0))

    return {"losses": losses, "span_logits": span_logits}


@mutation("random weights are kept outside the state")
def weights_outside_the_state(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.scale = 1 + torch.rand(1).item()

    def span_logits(self, queries, videos, query_index, video_index):
        spans = base.span_logits(self, queries, videos, query_index, video_index)
        return spans._replace(start=spans.start * self.scale)

    return {"__init__": __init__, "span_logits": span_logits}


PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
BEGIN, END = "<!-- kill table -->\n", "<!-- end of the kill table -->\n"


def table() -> str:
    """The kill table in Markdown: a row for each mutation, in each model's column the check that finds it out."""
    rows: dict[str, dict[str, str]] = {}
    for one in mutants():
        found = killed_by(one)
        rows.setdefault(one.what, {})[one.model] = found[0] if found else "**survives**"
    cells = [[what, *(found.get(model, "") for model in ALL)] for what, found in rows.items()]
    killed = sum(cell not in ("", "**survives**") for row in cells for cell in row[1:])
    total = sum(cell != "" for row in cells for cell in row[1:])
    lines = ["| mutation | " + " | ".join(ALL) + " |", "|---" * (1 + len(ALL)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([f"{killed} of {total} mutants are found out.\n", *lines]) + "\n"


def main() -> None:
    """Write the table into its page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
