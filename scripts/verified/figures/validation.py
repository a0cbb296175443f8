"""Whether the evaluator's score tells faithful captions from spoiled ones (demo only: there the truth is known)."""

import os
from collections.abc import Iterable

import numpy as np

from verified.common.auroc import auroc
from verified.common.fig import TYPES
from verified.figures.canvas import COLOURS, drawing

BINS = 24


def draw_validation(scores: list[dict], spoiled: list[dict], paths: Iterable[str | os.PathLike]) -> None:
    """Histograms of scores of faithful and spoiled candidates, by type, with the area under the ROC curve.

    `scores` holds a row per candidate, `spoiled` a row per falsified one; both name desc_id, type and candidate.
    """
    falsified = {(row["desc_id"], row["type"], row["candidate"]) for row in spoiled}
    with drawing(paths, 7.2, 2.8) as figure:
        for axis, kind in zip(figure.subplots(1, 2), TYPES):
            rows = [row for row in scores if row["type"] == kind and row["score"] is not None]
            values = np.array([row["score"] for row in rows])
            false = np.array([(row["desc_id"], kind, row["candidate"]) in falsified for row in rows], dtype=bool)
            axis.set_xlabel("confidence score")
            axis.set_ylabel("share of captions")
            if not false.any() or false.all():
                axis.set_title(f"{kind}: nothing to tell apart")
                continue
            edges = np.linspace(values.min(), values.max(), BINS + 1)
            for chosen, label, colour, look in (
                (~false, "faithful", COLOURS[kind], {"histtype": "stepfilled", "alpha": 0.45}),
                (false, "spoiled", COLOURS["false"], {"histtype": "step", "hatch": "////", "linewidth": 1.2}),
            ):
                count = chosen.sum()
                weights = np.full(count, 1 / count)
                axis.hist(values[chosen], edges, weights=weights, color=colour, label=f"{label} ({count})", **look)
            axis.set_title(f"{kind}: AUROC {auroc(values, ~false):.3f}")
            axis.locator_params(axis="x", nbins=5)
            axis.legend(fontsize=8)
