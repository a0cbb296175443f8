"""Checks that batch mates, pads and the order of a batch change no answer, and that tokens and clips do."""

import torch

from verified.benchmark.vcmr.conformance.trial import (
    Answers,
    Padded,
    Trial,
    close,
    require,
    require_same,
    take,
    to_float64,
)
from verified.benchmark.vcmr.contract import Batch, RetrievalModel
from verified.benchmark.vcmr.synthetic import WORDS


def check_pads(trial: Trial) -> None:
    """Clips behind the end of a video get no probability, also in training mode, and its own clips get some."""
    model = trial.model().double()
    queries, videos = (to_float64(padded) for padded in (trial.corpus.all_queries, trial.corpus.all_videos))
    real = trial.corpus.all_videos[1]
    for name, shares in _shares(trial, model.eval(), queries, videos):
        share = shares[~real].max()
        require(share < 1e-6, f"span_logits: pads hold {share:.2g} of the {name} probability of a video")
        for video, clip in ((shares <= 0) & real).nonzero().tolist():
            require(False, f"span_logits: clip {clip} of a video of {int(real[video].sum())} clips can be no {name}")
    for name, shares in _shares(trial, model.train(), queries, videos):
        share = shares[~real].max()
        require(share < 1e-6, f"span_logits: in training mode pads hold {share:.2g} of a video's {name} probability")


def _shares(trial: Trial, model: RetrievalModel, queries: Padded, videos: Padded) -> list[tuple[str, torch.Tensor]]:
    """Probability [N, L] of each clip to be start, and end, of each query's own moment."""
    spans = trial.spans(model, *trial.encode(model, queries, videos), trial.own_pairs)
    return [(name, getattr(spans, name).double().softmax(dim=1)) for name in ("start", "end")]


def check_changed_pads(trial: Trial) -> None:
    """Values in the pads of queries and videos, NaN included, change no answer and no loss."""
    model, corpus = trial.model(), trial.corpus
    expected = trial.answers(model)
    batch = corpus.training_batch()
    total = trial.losses(model, batch)["total"].detach()
    for what, fill in (("noise", 1.0), ("large values", 1000.0), ("NaN", float("nan"))):
        queries, videos = _refill(corpus.all_queries, fill), _refill(corpus.all_videos, fill)
        require_same(trial.answers(model, queries), expected, f"{what} in the pads of queries changes it")
        require_same(trial.answers(model, None, videos), expected, f"{what} in the pads of videos changes it")
        query, _ = _refill((batch.query, batch.query_mask), fill)
        video, _ = _refill((batch.video, batch.video_mask), fill)
        changed = Batch(query, batch.query_mask, video, batch.video_mask, batch.span)
        loss = trial.losses(model, changed)["total"].detach()
        require((loss - total).abs() <= 1e-5 * (1 + total.abs()), f"losses: {what} in the pads changes them")


def _refill(padded: Padded, fill: float) -> Padded:
    """The same with other pads: `fill` times standard normal noise, or other tokens where inputs are token ids."""
    values, mask = padded
    draw = torch.Generator().manual_seed(5)
    if not values.is_floating_point():
        return torch.where(mask, values, torch.randint(2, WORDS, values.shape, generator=draw)), mask
    noise = fill * torch.randn(values.shape, generator=draw)
    return torch.where(mask.unsqueeze(-1), values, noise), mask


def check_batch_mates(trial: Trial) -> None:
    """Answers to a query, a video or a pair do not depend on the other items of its batch, nor on their order."""
    model, corpus = trial.model(), trial.corpus
    queries, videos = trial.encode(model)
    whole = trial.answers_of(model, queries, videos)
    for index in range(corpus.count):
        query, _ = trial.encode(model, take(corpus.all_queries, [index]))
        alone = trial.answers_of(model, query, videos)
        require_same(alone, whole.of([index]), "other queries of the batch change the answers to a query")
        _, video = trial.encode(model, None, take(corpus.all_videos, [index]))
        alone = trial.answers_of(model, queries, video)
        require_same(alone, whole.of(slice(None), [index]), "other videos of the batch change the answers of a video")
        pair = (index, (index * 3) % corpus.count)
        for name, logits in zip(Answers._fields[1:], trial.spans(model, queries, videos, [pair])):
            same = logits is None or close(logits[0], getattr(whole, name)[pair])
            require(same, f"span_logits: other pairs of the batch change a pair's {name}")
        for name, logits in zip(Answers._fields[1:], trial.spans(model, queries, videos, [pair, pair])):
            same = logits is None or close(logits, getattr(whole, name)[pair].expand_as(logits))
            require(same, f"span_logits: a pair that is asked for twice has another {name}")
    order = torch.randperm(corpus.count, generator=torch.Generator().manual_seed(6)).tolist()
    mixed = trial.answers(model, take(corpus.all_queries, order), take(corpus.all_videos, order))
    require_same(mixed, whole.of(order, order), "the order of a batch changes it")
    for side, padded in (("query", corpus.all_queries), ("video", corpus.all_videos)):
        _check_twins(trial, model, side, padded)


def _check_twins(trial: Trial, model: RetrievalModel, side: str, padded: Padded) -> None:
    """One that shares its beginning, or its end, with a batch mate is answered as without it."""
    for which, at in (("beginning", -1), ("end", 0)):
        longest = padded[1].all(dim=1)
        one = take(padded, longest)
        other = _change_at(one, at)
        both = torch.cat([one[0], other[0]]), torch.cat([one[1], other[1]])
        together, alone = (
            trial.answers(model, given) if side == "query" else trial.answers(model, None, given)
            for given in (both, other)
        )
        rows = slice(int(longest.sum()), None)
        expected = together.of(rows) if side == "query" else together.of(slice(None), rows)
        require_same(alone, expected, f"a {side} that shares its {which} with another one of its batch changes it")


def check_reading(trial: Trial) -> None:
    """Every real token of each query and every real clip of each video can change an answer, and so can clips' order.

    Each answer depends on query and video. Computed in float64, so that a small influence is not rounded away.
    """
    model = trial.model().double()
    queries, videos = (to_float64(padded) for padded in (trial.corpus.all_queries, trial.corpus.all_videos))
    expected = trial.answers(model, queries, videos).given()
    for side, padded, unit in (("query", queries, "token"), ("video", videos, "clip")):
        unread = set(expected)
        for position in range(padded[1].shape[1]):
            changed = _change_at(padded, position)
            both = (changed, videos) if side == "query" else (queries, changed)
            answers = trial.answers(model, *both).given()
            differ = {name for name, value in answers.items() if not torch.equal(value, expected[name])}
            unread -= differ
            for row in padded[1][:, position].nonzero().flatten().tolist():
                at = row if side == "query" else (slice(None), row)
                read = any(not torch.equal(value[at], expected[name][at]) for name, value in answers.items())
                length = int(padded[1][row].sum())
                require(read, f"{unit} {position} of a {side} of {length} {unit}s changes no answer")
        require(not unread, f"{', '.join(sorted(unread))}: the same whatever the {side}")
    turned = videos[0].clone()
    for row, length in zip(turned, videos[1].sum(dim=1).tolist()):
        row[:length] = row[:length].flip(0)
    answers = trial.answers(model, queries, (turned, videos[1]))
    moved = not torch.equal(answers.start, expected["span_logits: start"])
    require(moved, "span_logits: the same for the clips of a video in the opposite order")


def _change_at(padded: Padded, position: int) -> Padded:
    """The same with another real token or clip at `position`, in the rows that have one there."""
    values, mask = padded
    here = torch.zeros_like(mask)
    here[:, position] = mask[:, position]
    if not values.is_floating_point():
        return torch.where(here, (values + 7) % WORDS, values), mask
    noise = torch.randn(values.shape, generator=torch.Generator().manual_seed(position), dtype=values.dtype)
    return torch.where(here.unsqueeze(-1), noise, values), mask
