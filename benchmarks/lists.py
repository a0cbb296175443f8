"""Suppression and metrics of ranked lists, beside loops over their rows.

    python benchmarks/lists.py          # five seconds

Lists of 100 rows over 8 videos each, on a grid of seconds. The loops are given 1,000 of the lists and must come to the
same. The limit of suppression compares each row with the one before it, once; that of the metrics each row with the
true span: less does not tell what overlaps.
"""

import sys

import numpy as np
from sides import Row, asked, compare, described, side

from verified.benchmark.lists import Lists
from verified.benchmark.nms import suppress
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.metrics import Truth, per_query

THRESHOLD = 0.5


def main() -> None:
    options = asked(described(__doc__))
    count, some = (40, 10) if options.tiny else (17000, 1000)
    lists, truth = random_lists(count)
    few, few_truth = lists.take(np.arange(some)), truth.take(np.arange(some))
    kept, hits = suppress(few, THRESHOLD), per_query("VCMR", few_truth, few)["0.5/r100"]
    if plain_suppression(few) != [[video for video in row if video >= 0] for row in kept.video.tolist()]:
        sys.exit("the two ways of suppression disagree")
    if plain_hits(few, few_truth) != hits.tolist():
        sys.exit("the two ways of counting disagree")
    compare(
        options.turns,
        Row(
            "suppression of lists of 100",
            "lists",
            side("ours", lambda: suppress(lists, THRESHOLD), count),
            side("loops", lambda: plain_suppression(few), some),
            side("each row compared once", lambda: neighbours(lists), count),
        ),
        Row(
            "VCMR metrics of lists of 100",
            "lists",
            side("ours", lambda: per_query("VCMR", truth, lists), count),
            side("loops", lambda: plain_hits(few, few_truth), some),
            side("each row compared once", lambda: with_truth(lists, truth), count),
        ),
    )


def random_lists(queries: int) -> tuple[Lists, Truth]:
    """Lists of 100 rows over 8 videos each, and one true span of a query."""
    draw = np.random.default_rng(1)
    start = draw.integers(0, 30, (queries, 100)).astype(float)
    score = -np.sort(-draw.random((queries, 100)), axis=1)
    lists = Lists(draw.integers(0, 8, (queries, 100)), start, start + draw.integers(3, 13, (queries, 100)), score)
    begin = draw.uniform(0, 30, (queries, 1, 1))
    truth = Truth(np.arange(queries), draw.integers(0, 8, queries), np.concatenate([begin, begin + 8], axis=2))
    return lists, truth


def neighbours(lists: Lists) -> np.ndarray:
    """tIoU of each row with the one before it."""
    return tiou(lists.start[:, 1:], lists.end[:, 1:], lists.start[:, :-1], lists.end[:, :-1])


def with_truth(lists: Lists, truth: Truth) -> np.ndarray:
    """tIoU of each row with the true span, in float32 as it is counted."""
    spans = truth.spans[:, 0].astype(np.float32)
    return tiou(lists.start.astype(np.float32), lists.end.astype(np.float32), spans[:, :1], spans[:, 1:])


def plain_suppression(lists: Lists) -> list[list[int]]:
    """Greedy suppression, row by row; the videos that stay."""
    every = []
    for video, start, end, score in zip(lists.video, lists.start, lists.end, lists.score):
        kept: list[tuple] = []
        for row in sorted(zip(video.tolist(), start, end, score), key=lambda row: -row[3]):
            if all(row[0] != other[0] or plain_iou(row[1:3], other[1:3]) <= THRESHOLD for other in kept):
                kept.append(row)
        every.append([row[0] for row in kept])
    return every


def plain_iou(first, second) -> float:
    """Overlap over hull."""
    hull = max(first[1], second[1]) - min(first[0], second[0])
    return max(0.0, min(first[1], second[1]) - max(first[0], second[0])) / hull if hull else 0.0


def plain_hits(lists: Lists, truth: Truth) -> list[bool]:
    """Whether a list holds a right span at 0.5 among its rows, of each query."""
    starts, ends, spans = (one.astype(np.float32) for one in (lists.start, lists.end, truth.spans[:, 0]))
    half = np.float32(0.5)
    return [
        any(v == right and plain_iou((a, b), span) >= half for v, a, b in zip(video, start, end))
        for video, right, start, end, span in zip(lists.video, truth.video, starts, ends, spans)
    ]


if __name__ == "__main__":
    sys.exit(main())
