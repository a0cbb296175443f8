"""Write a test from ranked lists of any origin: submission, metrics with intervals, numbers per query."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.benchmark.lists import Lists, suppress
from verified.benchmark.vcmr.data import Moments
from verified.benchmark.vcmr.metrics import Truth, per_query, percentage
from verified.benchmark.vcmr.results import write_per_query
from verified.benchmark.vcmr.submission import write_submission
from verified.io.jsonl import write_json


def truth_of(moments: Moments) -> Truth:
    """The answers to the queries of `moments`, with videos numbered as there."""
    spans = moments.time[:, None, :] if moments.spans is None else moments.spans
    return Truth(moments.desc_id, moments.video, spans, windows=moments.windows)


def write_test(
    lists_by_task: dict[str, Lists],
    moments: Moments,
    threshold: float,
    facts: Mapping[str, Any],
    outputs: tuple[str, str, str],
) -> None:
    """Write `outputs`: the submission (before NMS), the metrics (after NMS at `threshold` and without), and numbers per
    query. `facts` are copied into the metrics.
    """
    submission, metrics, queries_file = outputs
    write_submission(submission, moments.videos, moments.desc_id, moments.caption, lists_by_task)
    final = {task: lists if task == "VR" else suppress(lists, threshold) for task, lists in lists_by_task.items()}
    truth = truth_of(moments)
    reported = _per_query(truth, final)
    videos = [moments.videos[position] for position in moments.video]
    write_per_query(queries_file, moments.desc_id, videos, reported)
    write_json(
        metrics,
        {
            **facts,
            "queries": len(moments),
            "videos": len(moments.videos),
            "nms_threshold": threshold,
            "ground_truth_sha256": hashlib.sha256(Path(moments.file).read_bytes()).hexdigest(),
            "metrics": _percentages(reported),
            "intervals": _intervals(reported, videos),
            "without_nms": _percentages(_per_query(truth, lists_by_task)),
        },
    )


def _per_query(truth: Truth, tasks: dict[str, Lists]) -> dict[str, np.ndarray]:
    return {
        f"{task}/{name}": values
        for task, lists in tasks.items()
        for name, values in per_query(task, truth, lists).items()
    }


def _nest_by_task(values: dict) -> dict[str, dict]:
    nested: dict[str, dict] = {}
    for name, value in values.items():
        task, metric = name.split("/", 1)
        nested.setdefault(task, {})[metric] = value
    return nested


def _percentages(per_query_values: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    return _nest_by_task({name: percentage(values) for name, values in per_query_values.items()})


def _intervals(values: dict[str, np.ndarray], videos: list[str]) -> dict[str, dict[str, list[float] | None]]:
    """95 % intervals in percent that cover the draw of test videos, not the noise of training; None for one video."""
    intervals = mean_interval(np.stack(list(values.values()), axis=1)[None], videos)
    pairs = [
        None if np.isnan(low) else [round(100 * float(low), 2), round(100 * float(high), 2)]
        for low, high in zip(intervals.low, intervals.high)
    ]
    return _nest_by_task(dict(zip(values, pairs)))
