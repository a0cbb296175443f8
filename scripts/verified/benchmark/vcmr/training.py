"""The training loop of all models: sample, step, select on VCMR 0.5/r1 + 0.7/r1 without NMS, stop early.

Every random draw of an epoch comes from seeds of that epoch, so a killed training that is started again from its saved
state ends with the same bytes as one that was never interrupted.
"""

import logging
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Recipe, RetrievalModel
from verified.benchmark.vcmr.data import Moments, Queries, Videos, span_labels
from verified.benchmark.vcmr.layers import longest
from verified.benchmark.vcmr.metrics import Truth, per_query
from verified.benchmark.vcmr.negatives import draw_negatives
from verified.benchmark.vcmr.optimisers import AdamW, BertAdam, linear_multiplier, parameter_groups
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.errors import InputError
from verified.io.jsonl import write_jsonl
from verified.nn.precision import computing
from verified.nn.training_state import Reached, TrainingState
from verified.runtime.progress import Progress
from verified.runtime.seeds import derive_seed

log = logging.getLogger("verified")


@dataclass
class SplitData:
    """One split in the form a model asks for; `ranked` for two-stage models only."""

    moments: Moments
    videos: Videos
    queries: Queries
    ranked: Ranked | None = None

    def truth(self) -> Truth:
        """The answers, with videos numbered as in the lists of `search`."""
        spans = self.moments.time[:, None, :] if self.moments.spans is None else self.moments.spans
        return Truth(self.moments.desc_id, self.moments.video, spans)


@dataclass
class Trained:
    """The selected weights and the record of every epoch."""

    state: dict[str, Tensor]
    epoch: int
    """Selected epoch, from 0."""
    history: list[dict]
    left_out: int
    """Training queries whose video is not in their ranked list (two-stage models)."""


@dataclass(frozen=True)
class Run:
    """What sets one training apart from another of the same model, data and recipe."""

    seed: int
    log_file: str | Path
    """Gets a line per epoch."""
    state: TrainingState | None = None
    """Lets a training that was killed go on; whoever trains removes it once the result is safe."""
    precision: str = "float32"


@dataclass(frozen=True)
class _Steps:
    """What the steps of every epoch need."""

    model: RetrievalModel
    optimiser: torch.optim.Optimizer
    training: SplitData
    labels: Tensor
    usable: np.ndarray
    recipe: Recipe
    run: Run
    per_epoch: int
    total: int
    device: torch.device
    to_longest: bool
    """Whether a batch is padded to its longest video alone."""


def train(
    model: RetrievalModel,
    training: SplitData,
    selection: SplitData,
    recipe: Recipe,
    searching: SearchSettings,
    run: Run,
) -> Trained:
    """Train and return the weights of the best epoch.

    With a state, a training that was killed goes on after the last epoch that it kept, to the same bytes. Raises
    InputError if nothing is left to train on, or a loss is not finite.
    """
    usable = _usable(training, recipe)
    labels = torch.from_numpy(span_labels(type(model), training.moments, training.videos))
    per_epoch = max(1, _batches(len(usable), recipe))
    total = recipe.steps or recipe.epochs * per_epoch
    epochs = ceil(total / per_epoch)
    device = torch.device(searching.device)
    model.to(device)
    kind = BertAdam if recipe.optimiser == "bertadam" else AdamW
    optimiser = kind(parameter_groups(_trained(model), recipe.weight_decay), recipe.learning_rate, recipe.betas)
    to_longest = searching.padding == "official" and model.official_batch is not None
    steps = _Steps(model, optimiser, training, labels, usable, recipe, run, per_epoch, total, device, to_longest)
    reached = run.state.restore(model, optimiser) if run.state else Reached()
    finished, history = reached.finished, reached.rows
    best = reached.kept or {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    selected = max(range(len(history)), key=lambda epoch: history[epoch]["selection"], default=0)
    progress = Progress(f"train {type(model).__name__}", epochs, "epochs")
    progress.step(finished)
    for epoch in range(finished, epochs):
        if epoch - selected > recipe.patience:
            break
        losses = _epoch(steps, epoch)
        scores = _selection_scores(model, selection, searching)
        record = {"epoch": epoch, **losses, **scores}
        history.append(record)
        if epoch == 0 or record["selection"] > history[selected]["selection"]:
            selected, best = epoch, {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        write_jsonl(run.log_file, history)
        if run.state and run.state.due():
            run.state.save(Reached(epoch + 1, history, best), model, optimiser)
        progress.step(note=f"loss {losses['total']:.4f}, selection {record['selection']:.2f} (best {selected})")
    write_jsonl(run.log_file, history)
    log.info("%d epochs, best %d with %.2f", len(history), selected, history[selected]["selection"])
    return Trained(best, selected, history, len(training.moments) - len(usable))


def _usable(training: SplitData, recipe: Recipe) -> np.ndarray:
    """Queries to train on: all of them, or for two-stage models those whose video is in their list."""
    count = len(training.moments)
    if training.ranked is None:
        return np.arange(count)
    rank = training.ranked.rank_of(training.moments.desc_id, training.moments.video)
    usable = np.flatnonzero(rank >= 0)
    log.info("%d of %d training queries have their video in the ranked list", len(usable), count)
    if not len(usable):
        raise InputError("no training query has its video in its ranked list", file=training.ranked.file)
    if training.ranked.video.shape[1] <= recipe.negatives:
        raise InputError(
            f"lists of {training.ranked.video.shape[1]} videos are too short for {recipe.negatives} negatives",
            file=training.ranked.file,
            remedy="lower retrieval.training.MODEL.negatives",
        )
    return usable


def _batches(items: int, recipe: Recipe) -> int:
    whole = items // recipe.batch if recipe.drop_last and items >= recipe.batch else ceil(items / recipe.batch)
    return whole // recipe.accumulate if whole >= recipe.accumulate else 1


def _trained(model: RetrievalModel) -> list[tuple[str, torch.nn.Parameter]]:
    return [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]


def _epoch(steps: _Steps, epoch: int) -> dict[str, float]:
    """One pass over the usable queries; returns mean losses."""
    model, recipe = steps.model, steps.recipe
    model.train()
    torch.manual_seed(derive_seed(steps.run.seed, "dropout", epoch))
    generator = torch.Generator().manual_seed(derive_seed(steps.run.seed, "draws", epoch))
    order = steps.usable[torch.randperm(len(steps.usable), generator=generator).numpy()]
    sums: dict[str, float] = {}
    turns = min(steps.per_epoch, steps.total - epoch * steps.per_epoch)
    for turn in range(turns):
        step = epoch * steps.per_epoch + turn
        _set_rate(steps.optimiser, recipe, step, steps.total)
        steps.optimiser.zero_grad(set_to_none=True)
        for accumulated in range(recipe.accumulate):
            begin = (turn * recipe.accumulate + accumulated) * recipe.batch
            rows = order[begin : begin + recipe.batch]
            if not len(rows):
                break
            batch = _batch(steps.training, steps.labels, rows, recipe, generator)
            batch = (_to_longest(batch) if steps.to_longest else batch).to(steps.device)
            with computing(steps.device, steps.run.precision):
                losses = model.losses(batch, epoch=epoch, step=step, generator=generator)
            if not torch.isfinite(losses["total"]):
                raise InputError(
                    f"the loss of epoch {epoch} is not finite",
                    file=steps.training.moments.file,
                    remedy="lower retrieval.training.MODEL.learning_rate",
                )
            (losses["total"] / recipe.accumulate).backward()
            for name, value in losses.items():
                sums[name] = sums.get(name, 0.0) + float(value.detach())
        if recipe.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip_norm)
        steps.optimiser.step()
    return {name: round(value / (turns * recipe.accumulate), 6) for name, value in sums.items()}


def _set_rate(optimiser: torch.optim.Optimizer, recipe: Recipe, step: int, total: int) -> None:
    rate = recipe.learning_rate
    if recipe.schedule == "linear":
        # BertAdam counts its steps from 0; HERO's AdamW from 1, and never lets the rate fall to 0.
        counted, floor = (step, 0.0) if recipe.optimiser == "bertadam" else (step + 1, 1e-8)
        rate *= linear_multiplier(counted, total, recipe.warmup, floor)
    for group in optimiser.param_groups:
        group["lr"] = rate


def _batch(training: SplitData, labels: Tensor, rows: np.ndarray, recipe: Recipe, generator: torch.Generator) -> Batch:
    query, query_mask = training.queries.batch(rows)
    positives = training.moments.video[rows]
    if training.ranked is None:
        video, video_mask = training.videos.batch(positives)
    else:
        desc_ids = training.moments.desc_id[rows]
        negatives = draw_negatives(
            training.ranked, desc_ids, positives, recipe.negatives, recipe.negative_pool, generator
        )
        slots = np.concatenate([positives[:, None], negatives], axis=1)
        flat, mask = training.videos.batch(slots.ravel())
        video, video_mask = flat.view(*slots.shape, *flat.shape[1:]), mask.view(*slots.shape, -1)
    return Batch(query, query_mask, video, video_mask, labels[rows])


def _to_longest(batch: Batch) -> Batch:
    """The same pairs without the pads that all videos have."""
    length = longest(batch.video_mask)
    return replace(batch, video=batch.video[:, :length], video_mask=batch.video_mask[:, :length])


def _selection_scores(model: RetrievalModel, selection: SplitData, searching: SearchSettings) -> dict[str, float]:
    """R@1 of the three tasks in percent, and the criterion of selection."""
    quick = replace(searching, rows=1, quiet=True)
    lists_by_task = search(
        model, selection.videos, selection.queries, selection.moments, quick, selection.ranked
    ).tasks()
    truth = selection.truth()
    scores = {}
    for task, lists in lists_by_task.items():
        for name, values in per_query(task, truth, lists).items():
            if name.endswith("r1") or task == "VR":
                scores[f"{task}/{name}"] = round(float(values.mean() * 100), 4)
    return {**scores, "selection": round(scores["VCMR/0.5/r1"] + scores["VCMR/0.7/r1"], 4)}
