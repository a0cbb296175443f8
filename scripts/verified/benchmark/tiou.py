"""Temporal IoU, the one of all benchmarks: what two spans share, by the hull of both.

The hull is the union wherever two spans overlap, and spans that do not overlap have a tIoU of 0, so this is IoU proper.
The TVR evaluator, MAD's and VLG-Net's scripts and ReXTime's evaluator all compute it so; they differ in precision and
in what counts as a hit. TVR: float32, tIoU ≥ θ. MAD: float32, IoU > θ in the text and the zero-shot script, IoU ≥ θ in
VLG-Net's evaluator. ReXTime: float64, IoU ≥ θ.
"""

from typing import Any, Literal

import numpy as np

Comparison = Literal["gt", "ge"]
"""``gt`` counts tIoU > θ as a hit, ``ge`` tIoU ≥ θ."""


def tiou(start: Any, end: Any, other_start: Any, other_end: Any) -> Any:
    """tIoU of spans [start, end] with others, numbers or arrays that broadcast, all of one unit.

    Computed in the precision of the arguments. A reversed span overlaps with nothing, and 0 by 0 is 0.
    """
    shared = np.minimum(end, other_end) - np.maximum(start, other_start)
    hull = np.maximum(end, other_end) - np.minimum(start, other_start)
    return np.maximum(shared, 0) / np.where(hull > 0, hull, 1)


def hits(values: Any, threshold: Any, iou_cmp: Comparison = "ge") -> Any:
    """Whether tIoUs count as hits at thresholds, numbers or arrays that broadcast."""
    return values > threshold if iou_cmp == "gt" else values >= threshold
