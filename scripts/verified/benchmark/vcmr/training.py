"""Training of all retrieval models: sample, step, select on VCMR 0.5/r1 + 0.7/r1 without NMS (VR r1 where
the model only ranks videos), stop early.

Every random draw of an epoch comes from seeds of that epoch.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.vcmr.contract import Batch, Recipe, RetrievalModel
from verified.benchmark.vcmr.data import Moments, Queries, Videos, span_labels
from verified.benchmark.vcmr.layers import to_longest
from verified.benchmark.vcmr.metrics import per_query
from verified.benchmark.vcmr.ranked import Ranked, draw_negatives
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.benchmark.vcmr.testing import truth_of
from verified.errors import InputError
from verified.io.jsonl import Row, write_jsonl
from verified.nn import training as loop
from verified.nn.training import BertAdam, TrainingProgress, TrainingState, linear_multiplier, parameter_groups
from verified.runtime.seeds import derive_seed

log = logging.getLogger("verified")


@dataclass
class SplitData:
    """One split in the form a model asks for; `ranked` for two-stage models only."""

    moments: Moments
    videos: Videos
    queries: Queries
    ranked: Ranked | None = None


@dataclass
class Trained:
    """The selected weights and the record of every epoch."""

    state: dict[str, Tensor]
    epoch: int
    """Selected epoch, from 0."""
    history: list[dict]
    left_out: int
    """Training queries whose video is not in their ranked list (two-stage models)."""


Drawn = tuple[Batch, torch.Generator]
"""A batch, and the generator of its epoch, from which the losses draw as well."""


def train(
    model: RetrievalModel,
    training: SplitData,
    selection: SplitData,
    recipe: Recipe,
    searching: SearchSettings,
    seed: int,
    log_file: str | Path,
    state: TrainingState | None = None,
    precision: str = "float32",
) -> Trained:
    """Train and return the weights of the best epoch, or of the last one if there are too few videos to select on.

    `log_file` gets a line per epoch. State and errors: see `nn.training.train`.

    Raises InputError if no query remains to train on.
    """
    usable = _usable(training, recipe)
    labels = torch.from_numpy(span_labels(type(model), training.moments, training.videos))
    per_epoch = steps_of_epoch(len(usable), recipe)
    total = recipe.steps or recipe.epochs * per_epoch
    device = torch.device(searching.device)
    model.to(device)
    shorten = searching.padding == "official" and model.official_batch is not None

    selects = len(np.unique(selection.moments.video)) >= recipe.selection_videos
    if not selects:
        log.info("fewer than %d videos to select an epoch on: the last one is taken", recipe.selection_videos)
    chosen = _best if selects else _last

    def batches(first: int) -> Iterator[Iterator[Drawn]]:
        """The batches of each step from `first` on, which begins an epoch, drawn on demand."""
        order, generator = usable, torch.Generator()
        together = recipe.accumulate * recipe.batch
        for step in range(first, total):
            epoch, turn = divmod(step, per_epoch)
            if not turn:
                torch.manual_seed(derive_seed(seed, "dropout", epoch))
                generator.manual_seed(derive_seed(seed, "draws", epoch))
                order = usable[torch.randperm(len(usable), generator=generator).numpy()]
            rows = order[turn * together : (turn + 1) * together]
            begins = range(0, len(rows), recipe.batch)
            yield ((drawn_batch(rows[at : at + recipe.batch], generator), generator) for at in begins)

    def drawn_batch(rows: np.ndarray, generator: torch.Generator) -> Batch:
        query, video = _inputs(training, rows, recipe, generator)
        video = to_longest(*video) if shorten else video
        return Batch(*to_longest(*query), *video, labels[rows]).to(device)

    def losses(drawn: Drawn, step: int) -> tuple[Tensor, dict[str, Tensor]]:
        batch, generator = drawn
        terms = model.losses(batch, epoch=step // per_epoch, step=step, generator=generator)
        return terms["total"], terms

    def row(step: int, terms: list[loop.Terms], reached: TrainingProgress) -> Row:
        epoch = step // per_epoch
        losses = _means(terms, (step + 1 - epoch * per_epoch) * recipe.accumulate)
        record = {"epoch": epoch, **losses, **_selection_scores(model, selection, searching)}
        history = [*reached.rows, record]
        if chosen(history) == epoch:
            reached.extra = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        write_jsonl(log_file, history)
        log.info("epoch %d: selection %.2f (best epoch: %d)", epoch, record["selection"], chosen(history))
        return record

    how = loop.Training(
        label=f"train {type(model).__name__}",
        module=model,
        optimiser=_optimiser(model, recipe),
        steps=total,
        rate=partial(_rate, recipe, total),
        batches=batches,
        losses=losses,
        row=row,
        steps_per_row=per_epoch,
        over=lambda rows: len(rows) - chosen(rows) > recipe.patience,
        accumulate=recipe.accumulate,
        clip_norm=recipe.clip_norm,
        device=device,
        precision=precision,
        file=training.moments.file,
        remedy="lower retrieval.training.MODEL.learning_rate",
    )
    reached = loop.train(how, state)
    selected = chosen(reached.rows)
    return Trained(reached.extra, selected, reached.rows, len(training.moments) - len(usable))


def _optimiser(model: RetrievalModel, recipe: Recipe) -> torch.optim.Optimizer:
    """PyTorch's AdamW decays before a step, that of the official codes after it: rate² · decay apart."""
    groups = parameter_groups(model.named_parameters(), recipe.weight_decay)
    if recipe.optimiser == "bertadam":
        return BertAdam(groups, recipe.learning_rate, recipe.betas)
    return torch.optim.AdamW(groups, recipe.learning_rate, recipe.betas, eps=1e-6, fused=True)


def _best(history: list[Row]) -> int:
    """The first of the epochs with the highest criterion of selection."""
    return max(range(len(history)), key=lambda epoch: history[epoch]["selection"])


def _last(history: list[Row]) -> int:
    return len(history) - 1


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


def steps_of_epoch(items: int, recipe: Recipe) -> int:
    """Steps of the optimiser in a pass over so many queries."""
    whole = items // recipe.batch if recipe.drop_last and items >= recipe.batch else ceil(items / recipe.batch)
    return max(1, whole // recipe.accumulate)


def _rate(recipe: Recipe, total: int, step: int) -> float:
    if recipe.schedule != "linear":
        return recipe.learning_rate
    # BertAdam counts its steps from 0; HERO's AdamW from 1, and its rate never falls to 0.
    counted, floor = (step, 0.0) if recipe.optimiser == "bertadam" else (step + 1, 1e-8)
    return recipe.learning_rate * linear_multiplier(counted, total, recipe.warmup, floor)


def _means(terms: list[loop.Terms], count: int) -> dict[str, float]:
    sums: dict[str, float] = {}
    for values in terms:
        for name, value in values.items():
            sums[name] = sums.get(name, 0.0) + value
    return {name: round(value / count, 6) for name, value in sums.items()}


def _inputs(
    training: SplitData, rows: np.ndarray, recipe: Recipe, generator: torch.Generator
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Padded queries at `rows` and their videos, each with its mask; two-stage models get negatives behind each."""
    queries, positives = training.queries.batch(rows), training.moments.video[rows]
    if training.ranked is None:
        return queries, training.videos.batch(positives)
    desc_ids = training.moments.desc_id[rows]
    negatives = draw_negatives(training.ranked, desc_ids, positives, recipe.negatives, recipe.negative_pool, generator)
    slots = np.concatenate([positives[:, None], negatives], axis=1)
    flat, mask = training.videos.batch(slots.ravel())
    return queries, (flat.view(*slots.shape, *flat.shape[1:]), mask.view(*slots.shape, -1))


def _selection_scores(model: RetrievalModel, selection: SplitData, searching: SearchSettings) -> dict[str, float]:
    """R@1 of the three tasks in percent, and the criterion of selection."""
    quick = replace(searching, rows=1, quiet=True)
    lists_by_task = search(model, selection.videos, selection.queries, selection.moments, quick, selection.ranked)
    truth = truth_of(selection.moments)
    scores = {}
    for task, lists in lists_by_task.items():
        for name, values in per_query(task, truth, lists).items():
            if name.endswith("r1") or task == "VR":
                scores[f"{task}/{name}"] = round(float(values.mean() * 100), 4)
    criterion = scores["VCMR/0.5/r1"] + scores["VCMR/0.7/r1"] if model.localises else scores["VR/r1"]
    return {**scores, "selection": round(criterion, 4)}
