"""Figures of docs/paper-run.md and of the paper's configuration, computed from the published annotations and the model
at full size."""

import contextlib
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from running import PROJECT
from torch.utils.flop_counter import FlopCounterMode

from verified.captions.clips import frames_given
from verified.config import read
from verified.corpus.held_out import hold_out
from verified.corpus.moment_checks import RowRefused, end_within
from verified.evaluator import model as evaluator_model
from verified.evaluator.architecture import architecture, job_needs
from verified.planning.needs import needs

PAPER = read(PROJECT / "config" / "paper.yaml")
PAGE = " ".join((PROJECT / "docs" / "paper-run.md").read_text(encoding="utf-8").split())
DATA = PROJECT.parent / "shared" / "data"
WORDS = 32
"""Tokens of a fine caption in a batch, assumed: twice as many are 3 % more operations."""
annotated = pytest.mark.skipif(not DATA.is_dir(), reason="the published annotation files are not beside the project")


def said(pattern: str) -> tuple[int, ...]:
    """The numbers that the page gives where it has the text `pattern`."""
    return tuple(int(number.replace(",", "")) for number in re.search(pattern, PAGE).groups())


def rows(name: str) -> list[dict]:
    lines = Path(DATA, f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def subsampled(dataset: str, name: str) -> tuple[int, int]:
    """(moments with more frames than the video LMM gets, moments) of a file of fine captions."""
    dynamics = PAPER.datasets[dataset].dynamics.model_dump()
    return sum(frames_given(seconds, dynamics)[1] for seconds in lengths(name)), len(rows(name))


def lengths(name: str) -> Iterator[float]:
    for row in rows(name):
        start, end = row["time"]
        with contextlib.suppress(RowRefused):
            yield end_within(start, end, row["duration"]) - start


@annotated
def test_moments_that_are_subsampled():
    train, test = (subsampled("charades-fig", f"charades-fig/charades_fig_{split}") for split in ("train", "test"))
    assert said(r"(\d+) % of Charades-FIG's in train \(([\d,]+) of ([\d,]+)\)") == (percent(train), *train)
    assert said(r"and (\d+) % in test \(([\d,]+) of ([\d,]+)\)") == (percent(test), *test)
    val, test = (percent(subsampled("didemo-fig", f"didemo-fig/didemo_fig_{split}")) for split in ("val", "test"))
    assert said(r"(\d+) and (\d+) % of DiDeMo-FIG's in val and test") == (val, test)


def percent(of: tuple[int, int]) -> int:
    return round(100 * of[0] / of[1])


@annotated
def test_videos_that_are_held_out():
    spans = PAPER.datasets["charades-fig"].spans
    train = [{"video": row["video"], "split": "train"} for row in rows("charades-fig/charades_fig_train")]
    out = [row for row in hold_out(train, "train", spans.held_out_share) if row["split"] == spans.selection_split]
    counted = (len({row["video"] for row in out}), len({row["video"] for row in train}), len(out), len(train))
    assert said(r"([\d,]+) of ([\d,]+) with ([\d,]+) of ([\d,]+) moments") == counted


@annotated
def test_a_training_on_activitynet_keeps_its_features_in_memory():
    """In float32: a feature of 2048 for each clip of a video, of 768 for each token of a caption."""
    spans = PAPER.datasets["activitynet-fig"].spans
    size = 0
    for split in (spans.train_split, spans.selection_split):
        videos = json.loads(Path(DATA, "activitynet-captions", f"{split}.json").read_text(encoding="utf-8"))
        for video in videos.values():
            size += 4 * 2048 * min(spans.max_context_clips, math.ceil(video["duration"] / spans.clip_seconds))
            size += 4 * 768 * sum(len(sentence.split()) + 2 for sentence in video["sentences"])
    assert 14e9 < size < PAPER.retrieval.memory_mb * 2**20


def test_operations_of_fine_tuning(monkeypatch):
    """Counted on tensors without data: an item is a clip, four captions, and eight pairs (Equations 9 and 10)."""
    monkeypatch.setattr(evaluator_model, "whole", lambda _: contextlib.nullcontext())  # autocast knows no such device
    settings = PAPER.evaluator
    size = architecture(settings.size, settings.frames, settings.image_size)
    with torch.device("meta"):
        model = evaluator_model.NoiseEvaluator(size).to("meta").train()
        pixels = torch.empty(1, settings.frames, 3, settings.image_size, settings.image_size)
        video, (tokens, _) = operations(lambda: model.encode_video(pixels))
        words = torch.zeros(8, WORDS, dtype=torch.long)
        texts, (states, _) = operations(lambda: model.encode_text(words[:4], words[:4]))
        pairs, _ = operations(lambda: model.match(states.repeat(2, 1, 1), words, model.fusion.memory(tokens)))
    forward = video + texts + pairs
    passes = 4 if job_needs(settings.size)["recompute"] else 3
    total = passes * forward * settings.epochs * needs(PAPER).tuples
    assert said(r"(\d+) EFLOP") == (round(total / 1e18),)
    assert 0.9 < video / forward < 0.97
    least, most = said(r"fine-tuning (\d+) to (\d+) on four A100s")
    fast, slow = (int(rate) * 1e12 for rate in re.search(r"at (\d+) to (\d+) TFLOP/s", PAGE).groups()[::-1])
    assert (least, most) == pytest.approx((total / fast / 3600, total / slow / 3600), rel=0.03)


def operations(work: Callable[[], tuple]) -> tuple[int, tuple]:
    """How many floating-point operations `work` takes, and what it returns."""
    with FlopCounterMode(display=False) as counter:
        made = work()
    return counter.get_total_flops(), made
