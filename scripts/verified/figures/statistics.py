"""Pictures of the annotation statistics: scores (supplement Figure 4), clusters (Figure 5), spans. No titles inside:
captions belong to the page that shows them."""

import os
from collections.abc import Callable, Iterable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from verified.common.files import atomic_path

COLOURS = {"statics": "#1b7837", "dynamics": "#2166ac", "total": "#555555"}
"""Green for statics and blue for dynamics, as in the paper."""
HATCHES = {"dynamics": "////"}
"""What tells them apart in grey."""
POSITIONS = {"length_seconds": "#555555", "start": "#d95f02", "end": "#2166ac"}


def draw(paint: Callable, values: dict, paths: Iterable[str | os.PathLike]) -> None:
    """Call ``paint(figure, values)`` and save under each of `paths` (format by ending), the same bytes each time."""
    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "verified", "font.size": 9})
    figure = plt.figure(figsize=(6.4, 3.2), layout="constrained")
    paint(figure, values)
    for path in paths:
        undated = {"Date": None} if str(path).endswith("svg") else {"Software": None}
        with atomic_path(path) as temporary:
            figure.savefig(temporary, dpi=110, metadata=undated)
    plt.close(figure)


def confidence(figure, values: dict) -> None:
    """Histogram of the confidence scores, stacked by caption type where there are types (`confidence.json`)."""
    axis = figure.subplots()
    scores = values["scores"]
    if scores is None:
        return _empty(axis, "these annotations have no scores")
    parts = scores["types"] or {"total": scores["total"]}
    left = scores["edges"][:-1]
    width = scores["edges"][1] - scores["edges"][0]
    below = [0] * len(left)
    for name, part in parts.items():
        mean = "" if part["mean"] is None else f", mean {part['mean']:.2f}"
        label = f"{'all captions' if name == 'total' else name}: {part['captions']}{mean}"
        axis.bar(left, part["counts"], width, bottom=below, align="edge", color=COLOURS[name], label=label,
                 hatch=HATCHES.get(name), edgecolor="white", linewidth=0.3)  # fmt: skip
        below = [low + count for low, count in zip(below, part["counts"], strict=True)]
    axis.set_xlabel("confidence score")
    axis.set_ylabel("captions")
    axis.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def spans(figure, values: dict) -> None:
    """Histograms of span lengths, and of where moments start and end in their video (`spans.json`)."""
    axes = figure.subplots(1, 2)
    for axis, names, label in (
        (axes[0], ("length_seconds",), "length in seconds"),
        (axes[1], ("start", "end"), "position in the video"),
    ):
        for name in names:
            edges, counts = values[name]["edges"], values[name]["counts"]
            filled, line = name == "length_seconds", "--" if name == "end" else "-"
            axis.stairs(counts, edges, label=name, fill=filled, color=POSITIONS[name], linewidth=1.4, linestyle=line)
        axis.set_xlabel(label)
        axis.set_ylabel("moments")
        if len(names) > 1:
            axis.legend(frameon=False)


def clusters(figure, values: dict) -> None:
    """t-SNE of the captions that cluster when coarse: before on the left, after on the right (`clusters.json`)."""
    for axis, name, label in zip(figure.subplots(1, 2), ("cog", "fig"), ("coarse", "fine"), strict=True):
        points = [point for point in values["points"] if point[name] is not None]
        if not points:
            _empty(axis, f"no {label} captions to draw")
            continue
        x, y = zip(*(point[name] for point in points), strict=True)
        axis.scatter(x, y, s=3, c=[point["class"] for point in points], cmap="turbo", linewidths=0, rasterized=True)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.set_xlabel(f"{label} captions\n({len(points)} instances of {values['classes']} coarse classes)")


def _empty(axis, text: str) -> None:
    axis.axis("off")
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
