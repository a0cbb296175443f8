"""Write a test from ranked lists of any origin: submission, metrics with intervals, numbers per query."""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.intervals import mean_of_training
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
    reported = {task: per_query(task, truth, lists) for task, lists in final.items()}
    without_nms = {task: per_query(task, truth, lists) for task, lists in lists_by_task.items()}
    videos = [moments.videos[position] for position in moments.video]
    by_metric = {f"{task}/{name}": values for task, of_task in reported.items() for name, values in of_task.items()}
    write_per_query(queries_file, moments.desc_id, videos, by_metric)
    write_json(
        metrics,
        {
            **facts,
            "queries": len(moments),
            "videos": len(moments.videos),
            "nms_threshold": threshold,
            "ground_truth_sha256": hashlib.sha256(Path(moments.file).read_bytes()).hexdigest(),
            "metrics": _measure(percentage, reported),
            "intervals": _measure(partial(_interval, videos), reported),
            "without_nms": _measure(percentage, without_nms),
        },
    )


def _measure(
    measure: Callable[[np.ndarray], Any], per_query_values: dict[str, dict[str, np.ndarray]]
) -> dict[str, dict[str, Any]]:
    return {task: {name: measure(values) for name, values in of.items()} for task, of in per_query_values.items()}


def _interval(videos: list[str], values: np.ndarray) -> list[float] | None:
    """95 % interval in percent that covers the draw of test videos, not the noise of training; None for one video."""
    mean = mean_of_training(values, videos, unit=100)
    return None if mean["low"] is None else [round(mean["low"], 2), round(mean["high"], 2)]
