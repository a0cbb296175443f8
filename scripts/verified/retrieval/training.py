"""The training loop of all models: sample, step, select on VCMR 0.5-r1 + 0.7-r1 without NMS, stop early.

Every random draw of an epoch comes from seeds of that epoch, so a killed training that is started again from its saved
state ends with the same bytes as one that was never interrupted.
"""

import hashlib
import json
import logging
import time
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.common.errors import InputError
from verified.common.jsonl import write_jsonl
from verified.common.progress import Progress
from verified.common.seeds import derive_seed
from verified.retrieval.checkpoint import load_tensors, save_tensors
from verified.retrieval.contract import Batch, Recipe, RetrievalModel
from verified.retrieval.data import Moments, Queries, Videos, span_labels
from verified.retrieval.metrics import Truth, hits
from verified.retrieval.negatives import draw_negatives
from verified.retrieval.optimisers import AdamW, BertAdam, linear_multiplier, parameter_groups
from verified.retrieval.ranked import Ranked
from verified.retrieval.search import SearchSettings, search

log = logging.getLogger("verified")

SAVE_SECONDS = 30.0
"""Least time between two saved states: what a kill costs at most, beside the epoch at hand."""


@dataclass
class SplitData:
    """One split in the form a model asks for; `ranked` for two-stage models only."""

    moments: Moments
    videos: Videos
    queries: Queries
    ranked: Ranked | None = None

    def truth(self) -> Truth:
        """The answers, with videos numbered as in the lists of `search`."""
        return Truth(self.moments.desc_id, self.moments.video, self.moments.time[:, None, :])


@dataclass
class Trained:
    """The selected weights and the record of every epoch."""

    state: dict[str, Tensor]
    epoch: int
    """Selected epoch, from 0."""
    history: list[dict]
    left_out: int
    """Training queries whose video is not in their ranked list (two-stage models)."""


def train(
    model: RetrievalModel,
    training: SplitData,
    selection: SplitData,
    recipe: Recipe,
    seed: int,
    searching: SearchSettings,
    log_file: str | Path,
    state_file: str | Path,
) -> Trained:
    """Train and return the weights of the best epoch.

    Writes a line per epoch to `log_file`; keeps what is needed to go on after a kill in `state_file`, which the caller
    deletes once the result is safe. Raises InputError if nothing is left to train on, or a loss is not finite.
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
    signature = _signature(model, training, selection, recipe, seed)
    state = _State(Path(state_file), signature)
    first, best, history = state.restore(model, optimiser)
    chosen = max(range(len(history)), key=lambda epoch: history[epoch]["selection"], default=0)
    progress = Progress(f"train {type(model).__name__}", epochs, "epochs")
    progress.step(first)
    for epoch in range(first, epochs):
        if epoch - chosen > recipe.patience:
            break
        losses = _epoch(model, optimiser, training, labels, usable, recipe, seed, epoch, per_epoch, total, device)
        scores = _selection_scores(model, selection, searching)
        record = {"epoch": epoch, **losses, **scores}
        history.append(record)
        if epoch == 0 or record["selection"] > history[chosen]["selection"]:
            chosen, best = epoch, {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        write_jsonl(log_file, history)
        state.save(model, optimiser, best, history)
        progress.step(note=f"loss {losses['total']:.4f}, selection {record['selection']:.2f} (best {chosen})")
    write_jsonl(log_file, history)
    log.info("%d epochs, best %d with %.2f", len(history), chosen, history[chosen]["selection"])
    return Trained(best, chosen, history, len(training.moments) - len(usable))


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
            file=training.ranked.file, remedy="lower retrieval.training.MODEL.negatives",
        )  # fmt: skip
    return usable


def _batches(items: int, recipe: Recipe) -> int:
    whole = items // recipe.batch if recipe.drop_last and items >= recipe.batch else ceil(items / recipe.batch)
    return whole // recipe.accumulate if whole >= recipe.accumulate else 1


def _trained(model: RetrievalModel) -> list[tuple[str, torch.nn.Parameter]]:
    return [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]


def _epoch(
    model: RetrievalModel, optimiser: torch.optim.Optimizer, training: SplitData, labels: Tensor, usable: np.ndarray,
    recipe: Recipe, seed: int, epoch: int, per_epoch: int, total: int, device: torch.device,
) -> dict[str, float]:  # fmt: skip
    """One pass over the usable queries; returns mean losses."""
    model.train()
    torch.manual_seed(derive_seed(seed, "dropout", epoch))
    generator = torch.Generator().manual_seed(derive_seed(seed, "draws", epoch))
    order = usable[torch.randperm(len(usable), generator=generator).numpy()]
    sums: dict[str, float] = {}
    turns = min(per_epoch, total - epoch * per_epoch)
    for turn in range(turns):
        step = epoch * per_epoch + turn
        _set_rate(optimiser, recipe, step, total)
        optimiser.zero_grad(set_to_none=True)
        for part in range(recipe.accumulate):
            at = (turn * recipe.accumulate + part) * recipe.batch
            rows = order[at : at + recipe.batch]
            if not len(rows):
                break
            batch = _batch(training, labels, rows, recipe, generator).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                losses = model.losses(batch, epoch=epoch, step=step, generator=generator)
            if not torch.isfinite(losses["total"]):
                raise InputError(
                    f"the loss of epoch {epoch} is not finite", file=training.moments.file,
                    remedy="lower retrieval.training.MODEL.learning_rate",
                )  # fmt: skip
            (losses["total"] / recipe.accumulate).backward()
            for name, value in losses.items():
                sums[name] = sums.get(name, 0.0) + float(value.detach())
        if recipe.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip_norm)
        optimiser.step()
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
    own = training.moments.video[rows]
    if training.ranked is None:
        video, video_mask = training.videos.batch(own)
    else:
        negatives = draw_negatives(
            training.ranked, training.moments.desc_id[rows], own, recipe.negatives, recipe.negative_pool, generator
        )
        slots = np.concatenate([own[:, None], negatives], axis=1)
        flat, mask = training.videos.batch(slots.ravel())
        video, video_mask = flat.view(*slots.shape, *flat.shape[1:]), mask.view(*slots.shape, -1)
    return Batch(query, query_mask, video, video_mask, labels[rows])


def _selection_scores(model: RetrievalModel, selection: SplitData, searching: SearchSettings) -> dict[str, float]:
    """R@1 of the three tasks in percent, and the criterion of selection."""
    quick = replace(searching, rows=1, quiet=True)
    found = search(model, selection.videos, selection.queries, selection.moments, quick, selection.ranked)
    truth = selection.truth()
    scores = {}
    for task, lists in found.tasks().items():
        for name, values in hits(task, truth, lists).items():
            if name.endswith("r1") or task == "VR":
                scores[f"{task}/{name}"] = round(float(values.mean() * 100), 4)
    return {**scores, "selection": round(scores["VCMR/0.5-r1"] + scores["VCMR/0.7-r1"], 4)}


def _signature(model: RetrievalModel, training: SplitData, selection: SplitData, recipe: Recipe, seed: int) -> str:
    """What a saved state must agree in before it is used."""
    parts = [type(model).__name__, asdict(model.config), asdict(recipe), seed]
    for split in (training, selection):
        parts += [split.moments.desc_id.tolist(), split.moments.time.tolist(), split.moments.caption]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


class _State:
    """The state of an unfinished training, in one safetensors file."""

    def __init__(self, path: Path, signature: str):
        self.path, self.signature, self.saved = path, signature, time.monotonic()

    def restore(
        self, model: RetrievalModel, optimiser: torch.optim.Optimizer
    ) -> tuple[int, dict[str, Tensor], list[dict]]:
        """Next epoch, best weights and history; from the start if there is no state that fits."""
        fresh = 0, {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}, []
        if not self.path.is_file():
            return fresh
        try:
            tensors, header = load_tensors(self.path)
        except InputError as error:
            log.warning("%s; starting over", error)
            return fresh
        if header["signature"] != self.signature:
            log.warning("%s belongs to other settings or data; starting over", self.path)
            return fresh
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimiser": {}}
        for name, tensor in tensors.items():
            part, _, key = name.partition(".")
            parts[part][key] = tensor
        model.load_state_dict(parts["model"])
        for index, parameter in _numbered(optimiser):
            own = {key: parts["optimiser"].get(f"{index}.{key}") for key in ("mean", "square", "step")}
            if own["mean"] is not None:
                device = parameter.device
                optimiser.state[parameter].update(mean=own["mean"].to(device), square=own["square"].to(device))
                if own["step"] is not None:
                    optimiser.state[parameter]["step"] = int(own["step"])
        log.info("going on after epoch %d of a saved state", len(header["history"]) - 1)
        return len(header["history"]), parts["best"], header["history"]

    def save(
        self, model: RetrievalModel, optimiser: torch.optim.Optimizer, best: dict[str, Tensor], history: list[dict]
    ) -> None:
        """Save, unless the last time is less than `SAVE_SECONDS` ago."""
        if time.monotonic() - self.saved < SAVE_SECONDS:
            return
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        for index, parameter in _numbered(optimiser):
            for key, value in optimiser.state.get(parameter, {}).items():
                tensors[f"optimiser.{index}.{key}"] = torch.as_tensor(value)
        save_tensors(self.path, tensors, {"signature": self.signature, "history": history})
        self.saved = time.monotonic()


def _numbered(optimiser: torch.optim.Optimizer) -> list[tuple[int, torch.nn.Parameter]]:
    return list(enumerate(parameter for group in optimiser.param_groups for parameter in group["params"]))
