"""Training of VLG-Net on windows of long movies (appendix A.2).

The last epoch's weights are used: the published configuration never evaluates during training (it would after epoch 51
of 50). Differences from the official code: bfloat16 instead of float16 on a GPU; GCNeXt starts from random weights
unless `warm_start` names a checkpoint, as G-TAD's was never available.

A window has the moment somewhere in it, or not. Paper and code disagree on how it is drawn (appendix A.2 against the
released loader), hence the switches. In both, a moment longer than a window gets the window around its middle: the
paper does not cover it and the code's formula puts the window far away.

Not published: epochs of alignment before those of grounding, of each sentence against the clips of all windows of a
batch, and a learning rate on a cosine. Without them, which is the default, no step differs. The published training of
14 million windows needs no such start; a shorter one spends most of its steps on learning which clips a sentence
describes, from a loss over anchors with little information about it.

Every random draw of an epoch is seeded by the epoch.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from operator import add
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from verified.benchmark.tiou import tiou
from verified.errors import InputError
from verified.io.jsonl import Row
from verified.nn import training
from verified.nn.layers import visible_device
from verified.nn.training import TrainingProgress, TrainingState
from verified.runtime.processes import prefetch
from verified.runtime.seeds import derive_seed, generator
from verified_longform.config import VlgNet
from verified_longform.feature_files import LongFeatures
from verified_longform.grid import Grid
from verified_longform.vlg_net import VLGNet, VLGSettings, anchor_loss, scaled_targets
from verified_longform.vlg_search import TOKENS, cut_windows

Sampling = Literal["paper", "code"]


class Drawn(NamedTuple):
    """A window's first frame, and whether its targets come from the moment (they are all zero otherwise)."""

    start: int
    positive: bool


def draw_window(
    random: np.random.Generator,
    first: int,
    last: int,
    frames: int,
    window: int,
    negative_share: float = 0.7,
    jitter: Sampling = "paper",
    negatives: Sampling = "paper",
) -> Drawn:
    """Draw a window of `window` frames for the moment from frame `first` to `last` of a movie of `frames` frames.

    Negatives: ``paper`` starts outside [first − W, last], so that the moment is invisible; ``code`` starts anywhere,
    and sometimes shows the moment labelled as absent. If ``paper`` has no room, a positive is drawn.
    """
    latest = max(0, frames - window)
    if random.random() < negative_share:
        if negatives == "code":
            return Drawn(int(random.integers(0, latest + 1)), False)
        before, after = max(0, first - window), max(0, latest - last)  # places 0 … first−W−1 and last+1 … latest
        if before + after:
            offset = int(random.integers(0, before + after))
            return Drawn(offset if offset < before else last + 1 + offset - before, False)
    return Drawn(_around(random, first, last, latest, window, jitter), True)


def _around(random: np.random.Generator, first: int, last: int, latest: int, window: int, jitter: Sampling) -> int:
    length = last - first
    if length >= window:
        return min(max(0, (first + last - window) // 2), latest)
    if jitter == "code":  # never the window that ends with the moment; early moments are drawn to the movie's start
        return min(max(0, first - int(random.integers(0, window - length))), latest)
    low, high = max(0, last - window), min(first, latest)
    return int(random.integers(low, high + 1)) if low <= high else latest


def targets(grid: Grid, start: int, first: int, last: int) -> np.ndarray:
    """IoU of each anchor of the window that starts at frame `start` with the moment from frame `first` to `last`:
    float32 [anchors]. As published, in whole frames, and with the part in the window only; at least one frame.
    """
    inside = max(first - start, 0), min(max(last, first + 1) - start, grid.window)
    return tiou(*inside, *(grid.anchors * grid.clip_frames).T).astype(np.float32)


TEMPERATURE = 0.07


def alignment_loss(video: Tensor, query: Tensor, lengths: Tensor, moments: Tensor) -> Tensor:
    """Cross-entropy of a sentence's cosines with all clips of the batch against an even share for each clip of its
    moment, mean over sentences.

    video: encoded windows [B, D, N], query: encoded tokens [B, D, L] of which `lengths` [B] are words; the last word's
    state represents the sentence. moments: whether a clip is in the moment, bool [B, N], at least one in each window.
    """
    batch, _, count = video.shape
    item = torch.arange(batch, device=video.device)
    sentences = normalize(query[item, :, lengths - 1], dim=1)
    clips = normalize(video, dim=1).transpose(1, 2).flatten(0, 1)  # [B · N, D]
    shares = (sentences @ clips.T / TEMPERATURE).log_softmax(dim=1).view(batch, batch, count)[item, item]
    return -((shares * moments).sum(dim=1) / moments.sum(dim=1)).mean()


log = logging.getLogger("verified")


@dataclass(frozen=True)
class Batch:
    """frames [B, W, dim], tokens [B, L, dim] padded, lengths [B], targets [B, anchors] (IoU, 0 for negatives)."""

    frames: Tensor
    tokens: Tensor
    lengths: Tensor
    targets: Tensor
    positives: int


def initial(size: VLGSettings, grid: Grid, seed: int) -> VLGNet:
    """A fresh model, on a GPU if available; the weights come from the seed."""
    torch.manual_seed(derive_seed(seed, "vlg-net weights"))
    return VLGNet(size, grid.anchors).to(visible_device())


def train(
    model: VLGNet,
    rows: Sequence[dict],
    features: dict[str, LongFeatures],
    grid: Grid,
    settings: VlgNet,
    seed: int,
    state: TrainingState | None = None,
) -> list[Row]:
    """Train in place; returns one log row per epoch. State and errors: see `nn.training.train`.

    rows: checked annotations, each with the key ``source`` of its `features`. Rows of movies without a window are
    omitted; raises InputError if none remains.
    """
    lengths = {row["movie"]: features[row["source"]].frames.length(row["movie"]) for row in rows}
    usable = [row for row in rows if len(grid.starts(lengths[row["movie"]]))]
    if len(usable) < len(rows):
        log.warning("vlg-net: %d of %d queries lie in movies without a window", len(rows) - len(usable), len(rows))
    if not usable:
        raise InputError(
            "no movie is longer than a window", remedy="set grid.tail to cover, or choose a smaller window"
        )
    device, per_epoch = next(model.parameters()).device, ceil(len(usable) / settings.batch)
    epochs = settings.align_epochs + settings.epochs
    # Alignment is of moments alone: its windows all hold theirs.
    alignment = settings.model_copy(update={"negative_share": 0.0})

    def batches(first: int) -> Iterator[list[Batch]]:
        for epoch in range(first // per_epoch, epochs):
            drawn = alignment if epoch < settings.align_epochs else settings
            for batch in _batches(usable, lengths, features, grid, drawn, seed, epoch):
                yield [batch]

    def losses(batch: Batch, step: int) -> tuple[Tensor, dict[str, Tensor | float]]:
        if step < settings.align_epochs * per_epoch:
            loss = _align(model, batch, device)
            return loss, {"loss": loss, "positives": batch.positives, "queries": len(batch.lengths)}
        logits = model(batch.frames.to(device), batch.tokens.to(device), batch.lengths.to(device))
        overlaps = scaled_targets(batch.targets.to(device))
        loss = anchor_loss(logits.float(), overlaps)
        return loss, {"loss": loss, "positives": batch.positives, "queries": len(batch.lengths)}

    def rate(step: int) -> float:
        return settings.learning_rate * 0.5 ** (step // per_epoch // settings.halve_every)

    def row(step: int, terms: list[training.Terms], reached: TrainingProgress) -> Row:
        total = reduce(add, (term["loss"] * term["queries"] for term in terms))
        positives, queries = (sum(term[name] for term in terms) for name in ("positives", "queries"))
        facts = {"loss": round(total / queries, 6), "positives": positives, "queries": queries}
        epoch, stage = step // per_epoch, {}
        if settings.align_epochs:
            stage = {"stage": "alignment" if epoch < settings.align_epochs else "grounding"}
        return {"epoch": epoch, **stage, **facts, "learning_rate": rate(step)}

    how = training.Training(
        label="vlg-net",
        module=model,
        optimiser=torch.optim.Adam(model.parameters(), lr=settings.learning_rate),
        steps=epochs * per_epoch,
        rate=rate,
        batches=lambda first: prefetch(batches(first)),
        losses=losses,
        row=row,
        steps_per_row=per_epoch,
        device=device,
        precision="bfloat16" if device.type == "cuda" else "float32",
        remedy="lower longform.vlg_net.learning_rate",
    )
    reached = training.train(how, state)
    model.eval()
    return reached.rows


def _align(model: VLGNet, batch: Batch, device: torch.device) -> Tensor:
    """The alignment of a batch, whose moments are the anchors that fit them best."""
    video, query = model.encode_video(batch.frames.to(device)), model.encode_query(batch.tokens.to(device))
    moments = ~model.masked_attention_pooling.outside[batch.targets.argmax(dim=1).to(device)]
    return alignment_loss(video.float(), query.float(), batch.lengths.to(device), moments)


def _batches(
    rows: Sequence[dict],
    lengths: dict[str, int],
    features: dict[str, LongFeatures],
    grid: Grid,
    settings: VlgNet,
    seed: int,
    epoch: int,
) -> Iterator[Batch]:
    random = generator(seed, "vlg-net windows", epoch)
    order = random.permutation(len(rows))
    for begin in range(0, len(order), settings.batch):
        batch = [rows[number] for number in order[begin : begin + settings.batch]]
        frames, tokens, overlaps, positives = [], [], [], 0
        for row in batch:
            source, length = features[row["source"]], lengths[row["movie"]]
            first, last = round(row["start"] * grid.fps), round(row["end"] * grid.fps)
            drawn = draw_window(
                random, first, last, length, grid.window, settings.negative_share, settings.jitter, settings.negatives
            )
            movie_frames = source.movie(row["movie"], drawn.start, min(length, drawn.start + grid.window))
            frames.append(cut_windows(movie_frames, np.zeros(1, np.int64), grid)[0])
            tokens.append(torch.from_numpy(source.token_rows(row["id"], TOKENS)))
            no_moment = np.zeros(len(grid.anchors), np.float32)
            overlaps.append(targets(grid, drawn.start, first, last) if drawn.positive else no_moment)
            positives += drawn.positive
        yield Batch(
            torch.stack(frames),
            torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True),
            torch.tensor([len(query_tokens) for query_tokens in tokens]),
            torch.from_numpy(np.stack(overlaps)),
            positives,
        )
