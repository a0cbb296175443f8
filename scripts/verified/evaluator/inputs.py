"""Inputs of a training step: tuples (v, q, q+, s-, d-) of all data sets, views of their frames, batches of both.

A view has one frame of each interval of a clip, in training a random crop. This is UMT's recipe without the horizontal
flip: captions say left and right.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import interpolate

from verified.benchmark.submissions import list_some
from verified.errors import InputError
from verified.evaluator.clips import CodedClips, open_clips
from verified.evaluator.model import clean, encode
from verified.evaluator.training import ROLES, Batch
from verified.io.jsonl import read_jsonl
from verified.runtime.seeds import generator

RATIOS = (3 / 4, 4 / 3)
"""Proportions, width to height, of a random part."""
ATTEMPTS = 10


def random_part(
    height: int, width: int, share: tuple[float, float], generator: np.random.Generator
) -> tuple[slice, slice]:
    """Rows and columns of a random part whose area is a share of the whole in the range `share`.

    Area uniform, proportions log-uniform in RATIOS, place uniform; after ten parts that do not fit, the largest middle
    part of allowed proportions (RandomResizedCrop).
    """
    for _ in range(ATTEMPTS):
        area = height * width * generator.uniform(*share)
        ratio = math.exp(generator.uniform(math.log(RATIOS[0]), math.log(RATIOS[1])))
        rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
        if 0 < rows <= height and 0 < columns <= width:
            top, left = generator.integers(0, height - rows + 1), generator.integers(0, width - columns + 1)
            return slice(top, top + rows), slice(left, left + columns)
    columns = min(width, round(height * RATIOS[1]))
    rows = min(height, round(width / RATIOS[0]))
    top, left = (height - rows) // 2, (width - columns) // 2
    return slice(top, top + rows), slice(left, left + columns)


def resize(frames: np.ndarray, size: int) -> np.ndarray:
    """uint8 [T, H, W, 3] → uint8 [T, size, size, 3], bicubic, aspect ratio ignored (as UMT does); always a copy."""
    if frames.shape[1:3] == (size, size):
        return np.array(frames)
    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2)
    scaled = interpolate(pixels, (size, size), mode="bicubic", antialias=True)
    return np.ascontiguousarray(scaled.permute(0, 2, 3, 1).numpy())


def training_view(
    clip: np.ndarray, frames: int, size: int, share: tuple[float, float] | None, generator: np.random.Generator
) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, size, size, 3]: one frame of each interval at random, as UMT samples in training,
    all with the same random crop (None: uncropped)."""
    frames_per_interval = len(clip) // frames
    drawn = clip[np.arange(frames) * frames_per_interval + generator.integers(0, frames_per_interval, frames)]
    if share:
        rows, columns = random_part(drawn.shape[1], drawn.shape[2], share, generator)
        drawn = drawn[:, rows, columns]
    return resize(drawn, size)


def scoring_view(clip: np.ndarray, frames: int, size: int) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, size, size, 3]: the middle frame of each interval, whole, as UMT samples at
    test."""
    frames_per_interval = len(clip) // frames
    return resize(clip[frames_per_interval // 2 :: frames_per_interval], size)


OTHER_SPLIT = "split-not-trained-on"
NO_SELECTION = "perturbations-not-selected"


@dataclass(frozen=True)
class Tuples:
    """Items and their clips.

    captions: role → one string for each item. clip_rows: item → (array, row) of its clip. arrays: one for each shard,
    see `open_clips`. names: item → name in messages. left_out: reason → number of moments. splits: split → items.
    """

    captions: dict[str, list[str]]
    clip_rows: list[tuple[int, int]]
    arrays: list[np.ndarray | CodedClips]
    names: list[str]
    left_out: dict[str, int]
    splits: dict[str, int]

    def __len__(self) -> int:
        return len(self.clip_rows)

    def clip(self, item: int) -> np.ndarray:
        """uint8 [T·k, H, W, 3]."""
        array, row = self.clip_rows[item]
        return self.arrays[array][row]


def files_of(datasets: list[dict]) -> list[str]:
    """Every file that `read_tuples` reads."""
    kinds = ("moments", "perturbations", "clips", "indices")
    return [file for entry in datasets for kind in kinds for file in entry[kind]]


def read_tuples(datasets: list[dict], splits: Collection[str] | None = None) -> Tuples:
    """Join moments, perturbations and clips.

    datasets: for each its `name`, and the lists of files `moments`, `perturbations`, `clips` (arrays) and `indices`,
    the last three with one for each shard. splits: those to train on, None for all. Every moment is either an item or
    counted in `left_out`. Raises InputError if a file lacks a moment, if no item remains, and for a split that no data
    set has.
    """
    captions: dict[str, list[str]] = {role: [] for role in ("caption", "positive", "static", "dynamic")}
    clip_rows, arrays, names = [], [], []
    omitted, used_splits, found_splits = Counter(), Counter(), set()
    for dataset in datasets:
        perturbed = {row["desc_id"]: row for file in dataset["perturbations"] for row in read_jsonl(file, ["desc_id"])}
        places, reasons = {}, {}
        for file, index in zip(dataset["clips"], dataset["indices"]):
            entries = read_jsonl(index, ["desc_id", "reason"])
            for row, entry in enumerate(entries):
                places[entry["desc_id"]], reasons[entry["desc_id"]] = (len(arrays), row), entry["reason"]
            arrays.append(open_clips(file, entries))
        moments = [row for file in dataset["moments"] for row in read_jsonl(file, ["desc_id", "split"])]
        ids = [moment["desc_id"] for moment in moments]
        check_complete(ids, perturbed, f"perturbations of {dataset['name']}")
        check_complete(ids, reasons, f"clips of {dataset['name']}")
        for moment in moments:
            key = moment["desc_id"]
            row = perturbed[key]
            selected = row["selected"]
            found_splits.add(moment["split"])
            if splits is not None and moment["split"] not in splits:
                omitted[OTHER_SPLIT] += 1
            elif not selected or not all(selected.get(kind) for kind in ("positive", "statics", "dynamics")):
                omitted[NO_SELECTION] += 1
            elif reasons[key]:
                omitted[reasons[key]] += 1
            else:
                captions["caption"].append(row["caption"])
                captions["positive"].append(selected["positive"])
                captions["static"].append(selected["statics"])
                captions["dynamic"].append(selected["dynamics"])
                clip_rows.append(places[key])
                names.append(f"{dataset['name']}/{key}")
                used_splits[moment["split"]] += 1
    if unknown := set(splits or ()) - found_splits:
        raise InputError(
            f"evaluator.splits names {', '.join(sorted(unknown))}, which no data set has",
            remedy=f"the splits are {', '.join(sorted(found_splits))}; leave the key out for all of them",
        )
    if not clip_rows:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(omitted.items())) or "there are no moments"
        raise InputError(
            f"no moment is left to fine-tune the evaluator on ({reasons})",
            remedy="check the perturbations and evaluator.splits",
        )
    return Tuples(captions, clip_rows, arrays, names, dict(sorted(omitted.items())), dict(sorted(used_splits.items())))


def epoch_order(items: int, seed: int, epoch: int) -> np.ndarray:
    """A permutation [items], different in each epoch."""
    return generator(seed, "evaluator order", epoch).permutation(items)


def make_batch(frames: np.ndarray, captions: dict[str, list[str]], names: list[str]) -> Batch:
    """A batch of items.

    frames: uint8 [b, T, H, W, 3], this process's share; captions: B strings a role; names: B.
    """
    roles = tuple(role for role in ROLES if role in captions)
    ids, mask, _ = encode([caption for role in roles for caption in captions[role]])
    shape = (len(roles), len(names), -1)
    cleaned = np.array([clean(caption) for caption in captions["caption"]])
    same = torch.from_numpy(cleaned[:, None] == cleaned[None, :])
    return Batch(torch.from_numpy(frames), ids.reshape(shape), mask.reshape(shape), roles, same, names)


def check_complete(expected: Iterable[int], present: Collection[int], rows: str) -> None:
    """Raise InputError unless each desc_id of `expected` is in `present`; `rows` names the rows, in the plural.

    A stage writes a row for every moment that it receives, with a reason if it has no result: a moment without a row
    was lost.
    """
    expected = list(expected)
    missing = [desc_id for desc_id in expected if desc_id not in present]
    if missing:
        raise InputError(
            f"{rows} lack {len(missing)} of {len(expected)} moments: desc_id {list_some(missing)}",
            remedy="`verified verify` finds files that were changed; remove the files and build them again",
        )
