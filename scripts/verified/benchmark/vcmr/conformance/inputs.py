"""Checks that batch mates, pads, the order of a batch and a clip's position change no answer, that tokens and clips do,
and that long videos are read to their end.
"""

from dataclasses import replace

import torch

from verified.benchmark.vcmr.conformance.trial import (
    CLIPS,
    TOKENS,
    VIDEO_DIM,
    WORDS,
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


def check_pads(trial: Trial) -> None:
    """Clips behind the end of a video get no probability, also in training mode; real clips get some."""
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
    for name, fill in (("noise", 1.0), ("large values", 1000.0), ("NaN", float("nan"))):
        queries, videos = _refill(corpus.all_queries, fill), _refill(corpus.all_videos, fill)
        require_same(trial.answers(model, queries), expected, f"{name} in the pads of queries changes it")
        require_same(trial.answers(model, None, videos), expected, f"{name} in the pads of videos changes it")
        query, _ = _refill((batch.query, batch.query_mask), fill)
        video, _ = _refill((batch.video, batch.video_mask), fill)
        changed = Batch(query, batch.query_mask, video, batch.video_mask, batch.span)
        loss = trial.losses(model, changed)["total"].detach()
        require((loss - total).abs() <= 1e-5 * (1 + total.abs()), f"losses: {name} in the pads changes them")


def _refill(padded: Padded, fill: float) -> Padded:
    """The same with other pads: `fill` times standard normal noise, or other tokens if inputs are token ids."""
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
            require(same, f"span_logits: a repeated pair has another {name}")
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


DRAWS = 20
"""Clips that take the place of another until an answer changes: a score may be that of the nearest clip alone."""


def check_reading(trial: Trial) -> None:
    """Every real token of each query and every real clip of each video can change an answer, and so can clips' order.

    Each answer depends on query and video. Computed in float64, so that a small influence is not rounded away.
    """
    model = trial.model().double()
    queries, videos = (to_float64(padded) for padded in (trial.corpus.all_queries, trial.corpus.all_videos))
    expected = trial.answers(model, queries, videos).given()
    for side, padded, unit in (("query", queries, "token"), ("video", videos, "clip")):
        unread = set(filter(trial.asks, expected))
        for position in range(padded[1].shape[1]):
            unmoved = padded[1][:, position].nonzero().flatten().tolist()
            for draw in range(DRAWS):
                if not unmoved:
                    break
                changed = _change_at(padded, position, draw)
                both = (changed, videos) if side == "query" else (queries, changed)
                answers = trial.answers(model, *both).given()
                unread -= {name for name, value in answers.items() if not torch.equal(value, expected[name])}
                axis = 0 if side == "query" else 1
                moved = [(value != expected[name]).transpose(0, axis).flatten(1) for name, value in answers.items()]
                unmoved = [row for row in unmoved if not any(values[row].any() for values in moved)]
            for row in unmoved:
                length = int(padded[1][row].sum())
                require(False, f"{unit} {position} of a {side} of {length} {unit}s changes no answer")
        require(not unread, f"{', '.join(sorted(unread))}: the same whatever the {side}")
    if trial.cls.second_stream:
        changed = videos[0].clone()
        changed[..., -model.config.second_dim :] *= -1
        answers = trial.answers(model, queries, (changed, videos[1])).given()
        read = any(not torch.equal(value, expected[name]) for name, value in answers.items())
        require(read, "second_stream: the last `second_dim` numbers of clips change no answer")
    turned = videos[0].clone()
    for row, length in zip(turned, videos[1].sum(dim=1).tolist()):
        row[:length] = row[:length].flip(0)
    answers = trial.answers(model, queries, (turned, videos[1]))
    moved = not torch.equal(answers.start, expected["span_logits: start"])
    require(moved or not trial.cls.localises, "span_logits: the same for the clips of a video in the opposite order")


def _change_at(padded: Padded, position: int, draw: int = 0) -> Padded:
    """The same with another real token or clip at `position`, in the rows that have one there."""
    values, mask = padded
    places = torch.zeros_like(mask)
    places[:, position] = mask[:, position]
    if not values.is_floating_point():
        return torch.where(places, (values + 7 + draw) % WORDS, values), mask
    generator = torch.Generator().manual_seed(position + FAR["context_clips"] * draw)
    noise = torch.randn(values.shape, generator=generator, dtype=values.dtype)
    return torch.where(places.unsqueeze(-1), noise, values), mask


FULL = {"context_clips": CLIPS, "query_tokens": TOKENS}
"""A context that the longest synthetic video and query fill."""
NEAR = {"context_clips": 2 * CLIPS, "query_tokens": 2 * TOKENS}
"""A context with room behind the longest synthetic video and query, so that kernels see their pads."""
FAR = {"context_clips": 300, "query_tokens": 40}
"""More clips than eight bits count, more tokens than a sentence of COG has."""


def check_padding(trial: Trial) -> None:
    """The same videos and queries in a longer context, with the same weights, get the same answers.

    Exempt are the last clips of videos, in models that are published so and declare it (`padding_reach`, `full_reach`).
    """
    full = _enlarge(trial, **FULL)
    near = _copy_weights(full, _enlarge(trial, **NEAR))
    some = [0, 1, 2, int(trial.corpus.all_videos[1].sum(dim=1).argmax())]
    queries, videos = take(trial.corpus.all_queries, some), take(trial.corpus.all_videos, some)
    lengths = videos[1].sum(dim=1, keepdim=True)
    steady = torch.arange(CLIPS) < lengths - trial.cls.padding_reach
    expected = _steady(trial, near, queries, videos, steady, NEAR)
    for change, sizes in (
        ("queries", {**NEAR, "query_tokens": FAR["query_tokens"]}),
        ("videos", {**NEAR, "context_clips": FAR["context_clips"]}),
        ("videos that fill their context", FULL),
    ):
        model = full if sizes is FULL else _copy_weights(near, _enlarge(trial, **sizes))
        if sizes is FULL:
            steady &= torch.arange(CLIPS) < CLIPS - trial.cls.full_reach
            expected = _steady(trial, near, queries, videos, steady, NEAR)
        answers = _steady(trial, model, queries, videos, steady, sizes)
        for name, found in answers.items():
            require(close(found, expected[name], 1e-5), f"{name}: changes where {change} are padded further")
    batch = trial.corpus.training_batch()  # in training, queries are padded to the longest of their batch
    query, mask = _pad((batch.query, batch.query_mask), NEAR["query_tokens"])
    losses = trial.losses(near, batch)
    _require_equal_losses("queries", trial.losses(near, replace(batch, query=query, query_mask=mask)), losses)
    if not trial.cls.padding_reach:
        padded, drawn = (trial.losses(near, _pad_videos(batch, NEAR["context_clips"]), draws) for draws in (3, 4))
        # a loss that draws clips has more to draw from in a longer row
        steady_losses = {name: loss for name, loss in padded.items() if torch.equal(loss, drawn[name])}
        longer = _copy_weights(near, _enlarge(trial, **{**NEAR, "context_clips": 3 * CLIPS}))
        _require_equal_losses("videos", trial.losses(longer, _pad_videos(batch, 3 * CLIPS)), steady_losses)


def _pad_videos(batch: Batch, clips: int) -> Batch:
    video, mask = _pad((batch.video, batch.video_mask), clips)
    return replace(batch, video=video, video_mask=mask)


def _require_equal_losses(change: str, found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    for name, loss in expected.items():
        same = close(found[name].detach(), loss.detach(), 1e-5)
        require(same, f"losses: {name} changes where {change} are padded further")


def _steady(
    trial: Trial, model: RetrievalModel, queries: Padded, videos: Padded, steady: torch.Tensor, sizes: dict[str, int]
) -> dict[str, torch.Tensor]:
    """Values that must not depend on padding: all answers, or with a `padding_reach` the logits of the clips before
    it."""
    padded = _pad(queries, sizes["query_tokens"]), _pad(videos, sizes["context_clips"])
    answers = trial.answers(model, *padded).given()
    if trial.cls.padding_reach:
        answers.pop("span_logits: score", None)
    return {name: value[:, :, :CLIPS][:, steady] if value.dim() == 3 else value for name, value in answers.items()}


def check_attention(trial: Trial) -> None:
    """The first and the last clip of a video are seen from where the clips between them are."""
    model = trial.model().double()
    clips = trial.corpus.all_videos[0][:1].double()
    seen = _influence(trial, model, clips, list(range(CLIPS)))
    for clip in (0, CLIPS - 1):
        for offset in range(1 - CLIPS, CLIPS):
            others = [seen[p, p + offset] for p in range(1, CLIPS - 1) if 0 <= p + offset < CLIPS]
            if 0 <= clip + offset < CLIPS and len(others) > 2 and all(others):
                which = "first" if clip == 0 else "last"
                require(
                    seen[clip, clip + offset],
                    f"span_logits: the {which} clip of a video does not reach a clip {abs(offset)} away, others do",
                )


def check_long(trial: Trial) -> None:
    """A video of 300 clips and a query of 40 tokens are read to their end."""
    model = _enlarge(trial, **FAR).double()
    count, tokens = FAR.values()
    clips = torch.randn(1, count, VIDEO_DIM, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    clips = clips / clips.norm(dim=-1, keepdim=True)
    places = [20, 60, 110, 140, 290]
    change, shares = _changes(trial, model, clips, places)
    for name, share in zip(("start", "end"), shares if trial.cls.localises else ()):
        unseen = (share <= 0).nonzero().flatten().tolist()
        require(not unseen, f"span_logits: clip {unseen[:1]} of a video of {count} clips can be no {name}")
        require(len(share.unique()) > count // 2, f"span_logits: of {count} clips most have the {name} of another one")
    reaching = [bool((change[:, row, place - 15] > 0).any()) for row, place in enumerate(places)]
    for place, reaches in zip(places, reaching):
        require(
            reaches or not any(reaching), f"span_logits: clip {place} of {count} does not reach clips that others do"
        )
    query = trial.corpus.all_queries[0][1:2]
    values = query[:, torch.arange(tokens) % TOKENS]
    padded = (values.double() if values.is_floating_point() else values), torch.ones(1, tokens, dtype=torch.bool)
    videos = clips, torch.ones(1, count, dtype=torch.bool)
    expected = trial.answers(model, padded, videos).given()
    for token in (3, 20, tokens - 1):
        other = padded[0].clone()
        other[:, token] = other[:, token - 1]
        answers = trial.answers(model, (other, padded[1]), videos).given()
        read = any(not torch.equal(value, expected[name]) for name, value in answers.items())
        require(read, f"token {token} of a query of {tokens} tokens changes no answer")


def _influence(trial: Trial, model: RetrievalModel, clips: torch.Tensor, places: list[int]) -> torch.Tensor:
    """[P, L] bool: whether another clip at a place changes start or end at a clip."""
    return (_changes(trial, model, clips, places)[0] > 0).any(dim=0)


def _changes(
    trial: Trial, model: RetrievalModel, clips: torch.Tensor, places: list[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """[2, P, L]: how much another clip at each place changes start and end; and [2, L] their probabilities before."""
    count = clips.shape[1]
    video = clips.repeat(len(places) + 1, 1, 1)
    for row, place in enumerate(places):
        video[row, place] = video[row, place].flip(0)
    query = take(to_float64(trial.corpus.all_queries), [1])
    videos = video, torch.ones(len(video), count, dtype=torch.bool)
    answers = trial.answers(model, query, videos)
    logits = torch.stack([answers.start[0], answers.end[0]]).double()
    return (logits[:, :-1] - logits[:, -1:]).abs(), logits[:, -1].softmax(dim=1)


def _enlarge(trial: Trial, **sizes: int) -> RetrievalModel:
    """A model with room for longer inputs: where small models have fewer rows of `positions`, with the usual ones."""
    rows = trial.cls.Config.__dataclass_fields__.get("positions")
    return trial.model(**sizes, **({"positions": rows.default} if rows else {}))


def _copy_weights(model: RetrievalModel, longer: RetrievalModel) -> RetrievalModel:
    """`longer` with the weights of `model`; extra rows of its tables are unchanged."""
    state = longer.state_dict()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            state[name][tuple(slice(size) for size in value.shape)] = value
    return longer


def _pad(padded: Padded, length: int) -> Padded:
    """The same with pads of zeros up to `length` positions."""
    values, mask = padded
    count, items = mask.shape[-1], mask.dim() - 1
    longer = values.new_zeros(*mask.shape[:-1], length, *values.shape[items + 1 :])
    longer.narrow(items, 0, count).copy_(values)
    real = mask.new_zeros(*mask.shape[:-1], length)
    real[..., :count] = mask
    return longer, real
