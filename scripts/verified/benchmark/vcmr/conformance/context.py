"""Checks that padding and a clip's position change nothing, and that long videos are read to their end."""

from dataclasses import replace

import torch

from verified.benchmark.vcmr.conformance.trial import Padded, Trial, close, require, take, to_float64
from verified.benchmark.vcmr.contract import Batch, RetrievalModel
from verified.benchmark.vcmr.scoring import REACH
from verified.benchmark.vcmr.synthetic import CLIPS, TOKENS, VIDEO_DIM

FULL = {"context_clips": CLIPS, "query_tokens": TOKENS}
"""A context that the longest synthetic video and query fill."""
NEAR = {"context_clips": 2 * CLIPS, "query_tokens": 2 * TOKENS}
"""A context with room behind the longest synthetic video and query, so that kernels see their pads."""
FAR = {"context_clips": 300, "query_tokens": 40}
"""More clips than eight bits count, more tokens than a sentence of COG has."""


def check_padding(trial: Trial) -> None:
    """The same videos and queries in a longer context, with the same weights, are answered alike.

    But for the last clips of videos, in models that are published so and say it (`padding_reach`).
    """
    full = _enlarge(trial, **FULL)
    near = _copy_weights(full, _enlarge(trial, **NEAR))
    some = [0, 1, 2, int(trial.corpus.all_videos[1].sum(dim=1).argmax())]
    queries, videos = take(trial.corpus.all_queries, some), take(trial.corpus.all_videos, some)
    lengths = videos[1].sum(dim=1, keepdim=True)
    steady = torch.arange(CLIPS) < lengths - trial.cls.padding_reach
    expected = _steady(trial, near, queries, videos, steady, NEAR)
    for what, sizes in (
        ("queries", {**NEAR, "query_tokens": FAR["query_tokens"]}),
        ("videos", {**NEAR, "context_clips": FAR["context_clips"]}),
        ("videos that fill their context", FULL),
    ):
        model = full if sizes is FULL else _copy_weights(near, _enlarge(trial, **sizes))
        if sizes is FULL:  # the published kernels of start and end see pads behind a video
            steady &= torch.arange(CLIPS) < CLIPS - REACH
            expected = _steady(trial, near, queries, videos, steady, NEAR)
        answers = _steady(trial, model, queries, videos, steady, sizes)
        for name, found in answers.items():
            require(close(found, expected[name], 1e-5), f"{name}: changes where {what} are padded further")
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


def _require_equal_losses(what: str, found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    for name, loss in expected.items():
        same = close(found[name].detach(), loss.detach(), 1e-5)
        require(same, f"losses: {name} changes where {what} are padded further")


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
    for name, share in zip(("start", "end"), shares):
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
    """`longer` with the weights of `model`; rows of tables that it has more stay as they are."""
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
