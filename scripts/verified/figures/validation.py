"""How well the evaluator tells faithful captions from perturbed ones: scores, calibration, what a threshold buys."""

import os
from collections.abc import Iterable

import numpy as np

from verified.figures.canvas import COLOURS, SERIES, draw_note, drawing

SHOWN = ("corrupted", "perturbations")
"""The set to show, the first that is there: candidates whose truth is known, else perturbations never trained on."""
LOOKS = {
    "faithful": {"color": COLOURS["soft"], "histtype": "stepfilled", "alpha": 0.4},
    "static": {"color": COLOURS["statics"], "histtype": "step", "hatch": "////", "linewidth": 1.2},
    "dynamic": {"color": COLOURS["dynamics"], "histtype": "step", "hatch": "....", "linewidth": 1.2},
}


def draw_validation(validation: dict, paths: Iterable[str | os.PathLike]) -> None:
    """Three panels from results/DATASET/evaluator/validation.json: score histograms of faithful, statically and
    dynamically perturbed captions; the match probability against the share that is faithful; precision over coverage.

    Where the evaluator was graded by no caption, a small sheet says so.
    """
    name = next(name for name in SHOWN if name in validation["sets"])
    graded = validation["sets"][name]
    if not sum(graded["captions"].values()):
        draw_note(paths, "No caption was left that the evaluator could be graded by.")
        return
    with drawing(paths, 10.2, 3.0) as figure:
        scores, calibration, precision = figure.subplots(1, 3)
        figure.suptitle({"corrupted": "candidates against the truth", "perturbations": "unseen perturbations"}[name])
        _scores(scores, graded, validation["confidence"])
        _calibration(calibration, graded["calibration"])
        _precision(precision, graded)


def _scores(axis, graded: dict, confidence: str) -> None:
    edges = np.array(graded["histogram"]["edges"])
    for kind, look in LOOKS.items():
        counts = np.array(graded["histogram"][kind])
        if counts.sum():
            label = f"{kind} ({counts.sum()})"
            axis.hist(edges[:-1], edges, weights=counts / counts.sum(), label=label, **look)
    areas = [f"{kind} {area['value']:.3f}" for kind, area in graded["auroc"].items() if area["value"] is not None]
    axis.set_title("AUROC: " + (", ".join(areas) or "nothing to tell apart"))
    axis.set_xlabel(f"confidence score ({confidence})")
    axis.set_ylabel("share of captions")
    axis.locator_params(axis="x", nbins=5)
    if axis.patches:
        axis.legend(fontsize=8)


def _calibration(axis, bins: list[dict]) -> None:
    filled = [entry for entry in bins if entry["captions"]]
    axis.plot([0, 1], [0, 1], color=COLOURS["soft"], linewidth=0.8, label="calibrated")
    _line(axis, filled, "mean_probability", "faithful_share", SERIES[1], label="match head")
    axis.set(title="calibration", xlabel="match probability", ylabel="share faithful", xlim=(0, 1), ylim=(0, 1))
    axis.legend(fontsize=8)


def _precision(axis, graded: dict) -> None:
    rows = graded["precision_coverage"]
    _line(axis, rows, "coverage", "precision", SERIES[0], label="best scores kept", markersize=3)
    captions = graded["captions"]
    if rows:
        share = captions["faithful"] / sum(captions.values())
        axis.axhline(share, color=COLOURS["soft"], linewidth=0.8, label="all kept")
        axis.legend(fontsize=8)
    axis.set(title="what a score threshold buys", xlabel="share of captions kept", ylabel="share faithful", xlim=(0, 1))


def _line(axis, rows: list[dict], across: str, up: str, series: tuple[str, str, str], **look) -> None:
    """One key of `rows` over another, in the colour, marker and line of a series."""
    colour, marker, line = series
    values = ([row[key] for row in rows] for key in (across, up))
    axis.plot(*values, color=colour, marker=marker, linestyle=line, **look)
