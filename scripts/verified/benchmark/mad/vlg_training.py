"""Training of VLG-Net on windows of long films (appendix A.2).

The last epoch's weights are kept: the published configuration never evaluates during training (it would after epoch
51 of 50). Differences from the official code: bfloat16 instead of float16 on a GPU; GCNeXt starts from random weights,
as the warm-up checkpoint (from temporal action detection) was never at hand.

Every random draw of an epoch is seeded by the epoch, so a training that was killed goes on to the same bytes.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.mad.feature_files import LongFeatures
from verified.benchmark.mad.grid import Grid
from verified.benchmark.mad.vlg_net import VLGNet, VLGSettings, anchor_loss, scaled_targets
from verified.benchmark.mad.vlg_search import TOKENS, cut_windows
from verified.benchmark.mad.vlg_windows import Sampling, draw_window, targets
from verified.errors import InputError
from verified.runtime.prefetch import ahead
from verified.runtime.progress import Progress
from verified.runtime.seeds import derive_seed, generator

log = logging.getLogger("verified")


@dataclass(frozen=True)
class Plan:
    """How VLG-Net is trained; the defaults are MAD's."""

    epochs: int = 50
    batch: int = 128
    learning_rate: float = 1e-4
    halve_every: int = 25
    negative_share: float = 0.7
    jitter: Sampling = "paper"
    negatives: Sampling = "paper"
    low_iou: float = 0.1
    high_iou: float = 1.0
    seed: int = 0


@dataclass
class State:
    """What a training is in between two epochs."""

    model: VLGNet
    optimiser: torch.optim.Optimizer
    epoch: int
    rows: list[dict]


@dataclass(frozen=True)
class Batch:
    """frames [B, W, dim], tokens [B, L, dim] padded, lengths [B], targets [B, anchors] (IoU, 0 for negatives)."""

    frames: Tensor
    tokens: Tensor
    lengths: Tensor
    targets: Tensor
    positives: int


def start(size: VLGSettings, grid: Grid, plan: Plan) -> State:
    """A fresh model and optimiser; the weights come from the seed."""
    torch.manual_seed(derive_seed(plan.seed, "vlg-net weights"))
    model = VLGNet(size, grid.anchors).to("cuda" if torch.cuda.is_available() else "cpu")
    return State(model, torch.optim.Adam(model.parameters(), lr=plan.learning_rate), 0, [])


def train(
    state: State,
    rows: Sequence[dict],
    features: dict[str, LongFeatures],
    grid: Grid,
    plan: Plan,
    after_epoch: Callable[[State], None] = lambda state: None,
) -> list[dict]:
    """Train `state.model` in place from ``state.epoch`` on; returns one log row per epoch.

    rows: checked annotations, each with the key ``source`` of its `features`. Rows of films without a window are left
    out; raises InputError where none remains, or where the loss is not finite.
    """
    lengths = {row["film"]: features[row["source"]].frames.length(row["film"]) for row in rows}
    usable = [row for row in rows if len(grid.starts(lengths[row["film"]]))]
    if len(usable) < len(rows):
        log.warning("vlg-net: %d of %d queries lie in films without a window", len(rows) - len(usable), len(rows))
    if not usable:
        raise InputError("no film is longer than a window", remedy="set grid.tail to cover, or choose a smaller window")
    device = next(state.model.parameters()).device
    progress = Progress("vlg-net", plan.epochs - state.epoch, "epochs")
    state.model.train()
    for epoch in range(state.epoch, plan.epochs):
        rate = plan.learning_rate * 0.5 ** (epoch // plan.halve_every)
        for group in state.optimiser.param_groups:
            group["lr"] = rate
        total, seen, positives = 0.0, 0, 0
        for batch in ahead(_batches(usable, lengths, features, grid, plan, epoch)):
            loss = _loss(state.model, batch, plan, device)
            if not torch.isfinite(loss):
                raise InputError(
                    f"the loss of epoch {epoch} is {loss.item()}", remedy="lower longform.vlg_net.learning_rate"
                )
            state.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            state.optimiser.step()
            count = len(batch.lengths)
            total, seen, positives = total + loss.item() * count, seen + count, positives + batch.positives
        row = {"epoch": epoch, "loss": round(total / seen, 6), "positives": positives, "queries": seen}
        state.rows.append({**row, "learning_rate": rate})
        state.epoch = epoch + 1
        progress.step(note=f"loss {total / seen:.4f}")
        after_epoch(state)
        state.model.train()
    progress.finish()
    state.model.eval()
    return state.rows


def _loss(model: VLGNet, batch: Batch, plan: Plan, device: torch.device) -> Tensor:
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        logits = model(batch.frames.to(device), batch.tokens.to(device), batch.lengths.to(device))
    return anchor_loss(logits.float(), scaled_targets(batch.targets.to(device), plan.low_iou, plan.high_iou))


def _batches(
    rows: Sequence[dict], lengths: dict[str, int], features: dict[str, LongFeatures], grid: Grid, plan: Plan, epoch: int
) -> Iterator[Batch]:
    random = generator(plan.seed, "vlg-net windows", epoch)
    order = random.permutation(len(rows))
    for begin in range(0, len(order), plan.batch):
        batch = [rows[number] for number in order[begin : begin + plan.batch]]
        frames, tokens, wanted, positives = [], [], [], 0
        for row in batch:
            source, length = features[row["source"]], lengths[row["film"]]
            first, last = round(row["start"] * grid.fps), round(row["end"] * grid.fps)
            drawn = draw_window(
                random, first, last, length, grid.window, plan.negative_share, plan.jitter, plan.negatives
            )
            film_frames = source.film(row["film"], drawn.start, min(length, drawn.start + grid.window))
            frames.append(cut_windows(film_frames, np.zeros(1, np.int64), grid)[0])
            tokens.append(torch.from_numpy(source.token_rows(row["id"], TOKENS)))
            moment = (row["start"], row["end"])
            wanted.append(targets(grid, drawn.start, moment) if drawn.positive else np.zeros(len(grid.anchors), "f4"))
            positives += drawn.positive
        yield Batch(
            torch.stack(frames),
            torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True),
            torch.tensor([len(query_tokens) for query_tokens in tokens]),
            torch.from_numpy(np.stack(wanted)),
            positives,
        )
