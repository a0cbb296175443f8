"""Separation of faithful from perturbed captions by the evaluator: scores, calibration, precision by threshold."""

import os
from collections.abc import Iterable

import numpy as np

from verified.figures.canvas import COLOURS, SERIES, Sheet, direct_labels, draw_note, drawing

SHOWN = ("corrupted", "perturbations")
"""The set to show, the first available: candidates whose truth is known, else perturbations never trained on."""
LOOKS = {
    "faithful": {"color": COLOURS["soft"], "histtype": "stepfilled", "alpha": 0.4},
    "static": {"color": COLOURS["statics"], "histtype": "step", "hatch": "////", "linewidth": 1.2},
    "dynamic": {"color": COLOURS["dynamics"], "histtype": "step", "hatch": "....", "linewidth": 1.2},
}


def draw_validation(validation: dict, paths: Iterable[str | os.PathLike]) -> None:
    """Three panels from results/DATASET/evaluator/validation.json: score histograms of faithful, statically and
    dynamically perturbed captions; the match probability against the share that is faithful; precision over coverage.

    Without graded captions it is a placeholder.
    """
    name = next(name for name in SHOWN if name in validation["sets"])
    graded = validation["sets"][name]
    if not sum(graded["captions"].values()):
        draw_note(paths, "No caption was left that the evaluator could be graded by.")
        return
    with drawing(paths, 17.0, 5.8) as figure:
        scores, calibration, precision = figure.subplots(1, 3)
        figure.suptitle({"corrupted": "candidates against the truth", "perturbations": "unseen perturbations"}[name])
        _scores(scores, graded, validation["confidence"])
        _calibration(calibration, graded["calibration"])
        _precision(precision, graded)
        _describe(figure, graded)


def _describe(figure: Sheet, graded: dict) -> None:
    """All three panels as rows of one table."""
    edges, rows = graded["histogram"]["edges"], []
    for kind in LOOKS:
        rows += [(kind, low, high, count) for low, high, count in zip(edges, edges[1:], graded["histogram"][kind])]
    rows += [
        ("match probability", point["mean_probability"], point["faithful_share"], point["captions"])
        for point in graded["calibration"]
        if point["captions"]
    ]
    rows += [("kept", point["coverage"], point["precision"], "") for point in graded["precision_coverage"]]
    areas = "; ".join(
        f"{kind} {area['value']:.3f}" for kind, area in graded["auroc"].items() if area["value"] is not None
    )
    summary = (
        f"Scores of faithful and perturbed captions, calibration, and precision by threshold. AUROC: {areas or 'none'}"
    )
    figure.describe(summary, ("of", "from, or x", "to, or y", "captions"), rows)


def _scores(axis, graded: dict, confidence: str) -> None:
    edges = np.array(graded["histogram"]["edges"])
    for kind, look in LOOKS.items():
        counts = np.array(graded["histogram"][kind])
        if counts.sum():
            area = graded["auroc"].get(kind, {}).get("value")
            label = f"{kind} ({counts.sum()})" + ("" if area is None else f", AUROC {area:.3f}")
            axis.hist(edges[:-1], edges, weights=counts / counts.sum(), label=label, **look)
    axis.set_xlabel(f"confidence score ({confidence})")
    axis.set_ylabel("share of captions")
    axis.locator_params(axis="x", nbins=5)
    if axis.patches:
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1))


def _calibration(axis, bins: list[dict]) -> None:
    filled = [entry for entry in bins if entry["captions"]]
    axis.plot([0, 1], [0, 1], color=COLOURS["soft"], linewidth=1.2)
    _line(axis, filled, "mean_probability", "faithful_share", SERIES[1])
    axis.set(title="calibration", xlabel="match probability", ylabel="share faithful", xlim=(0, 1), ylim=(0, 1))
    ends = {"ideal": (1.0, 1.0, COLOURS["soft"])}
    if filled:
        ends["match head"] = (1.0, filled[-1]["faithful_share"], SERIES[1][0])
    direct_labels(axis, ends)


def _precision(axis, graded: dict) -> None:
    rows = graded["precision_coverage"]
    _line(axis, rows, "coverage", "precision", SERIES[0])
    axis.set(title="what a score threshold buys", xlabel="share of captions kept", ylabel="share faithful", xlim=(0, 1))
    if rows:
        middle = rows[len(rows) // 2]
        at = (middle["coverage"], middle["precision"])
        look = {"textcoords": "offset points", "color": SERIES[0][0], "ha": "center"}
        axis.annotate("best scores", at, xytext=(0, 12), **look)
        captions = graded["captions"]
        share = captions["faithful"] / sum(captions.values())
        axis.axhline(share, color=COLOURS["soft"], linewidth=1.2)
        axis.annotate("all captions", (0, share), xytext=(4, 4), textcoords="offset points", color=COLOURS["soft"])


def _line(axis, rows: list[dict], across: str, up: str, series: tuple[str, str, str], **look) -> None:
    """One key of `rows` over another, in the colour, marker and line of a series."""
    colour, marker, line = series
    values = ([row[key] for row in rows] for key in (across, up))
    axis.plot(*values, color=colour, marker=marker, linestyle=line, **look)
