"""Pictures of the annotation statistics: scores (supplement Figure 4), clusters (Figure 5), spans. No titles inside:
captions belong to the page that shows them."""

import os
from collections.abc import Callable, Iterable

import numpy as np

from verified.figures.canvas import COLOURS, WIDE, Sheet, draw_note, drawing, literal

HATCHES = {"dynamics": "////"}
"""Hatches that distinguish them in grey."""
LARGEST, LONGEST = 8, 76
"""Classes shown, and letters of a class's caption."""
POSITIONS = {"length_seconds": COLOURS["soft"], "start": "#d95f02", "end": COLOURS["dynamics"]}


def draw(paint: Callable, values: dict, paths: Iterable[str | os.PathLike]) -> None:
    """Call ``paint(figure, values)`` and save under each of `paths`, the format by their ending.

    Without data it draws a small placeholder with one line of text.
    """
    nothing = NOTHING.get(paint)
    if nothing and (note := nothing(values)):
        draw_note(paths, note)
        return
    with drawing(paths, WIDE, 5.6) as figure:
        paint(figure, values)


def confidence(figure: Sheet, values: dict) -> None:
    """Histogram of the confidence scores, stacked by caption type if there are types (`confidence.json`)."""
    axis = figure.subplots()
    scores = values["scores"]
    histograms = scores["types"] or {"total": scores["total"]}
    left = scores["edges"][:-1]
    width = scores["edges"][1] - scores["edges"][0]
    below = [0] * len(left)
    for name, histogram in histograms.items():
        mean = "" if histogram["mean"] is None else f", mean {histogram['mean']:.2f}"
        label = f"{'all captions' if name == 'total' else name}: {histogram['captions']}{mean}"
        colour = COLOURS["soft" if name == "total" else name]
        axis.bar(
            left,
            histogram["counts"],
            width,
            bottom=below,
            align="edge",
            color=colour,
            label=label,
            hatch=HATCHES.get(name),
            edgecolor="white",
            linewidth=0.3,
        )
        below = [low + count for low, count in zip(below, histogram["counts"], strict=True)]
    of_each = "; ".join(str(bars.get_label()) for bars in axis.containers)
    rows = [
        (name, float(low), float(low + width), count)
        for name, histogram in histograms.items()
        for low, count in zip(left, histogram["counts"])
    ]
    figure.describe(f"Histogram of confidence scores. {of_each}", ("type", "from", "to", "captions"), rows)
    axis.set_xlabel("confidence score")
    axis.set_ylabel("captions")
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def spans(figure: Sheet, values: dict) -> None:
    """Histograms of span lengths, and of where moments start and end in their video (`spans.json`)."""
    axes = figure.subplots(1, 2)
    for axis, names, label in (
        (axes[0], ("length_seconds",), "length in seconds"),
        (axes[1], ("start", "end"), "position in the video"),
    ):
        for name in names:
            edges, counts = values[name]["edges"], values[name]["counts"]
            filled, line = name == "length_seconds", "--" if name == "end" else "-"
            axis.stairs(counts, edges, fill=filled, color=POSITIONS[name], linewidth=2.5, linestyle=line)
            if not filled:
                most = int(np.argmax(counts))
                place, shift = (edges[most] + edges[most + 1]) / 2, 4 if name == "start" else 22
                at = (place, counts[most])
                axis.annotate(
                    name, at, xytext=(0, shift), textcoords="offset points", color=POSITIONS[name], ha="center"
                )
        axis.set_xlabel(label)
        axis.set_ylabel("moments")
        if len(names) > 1:
            axis.margins(y=0.25)
    rows = [
        (name, float(low), float(high), count)
        for name in POSITIONS
        for low, high, count in zip(values[name]["edges"], values[name]["edges"][1:], values[name]["counts"])
    ]
    summary = "Histograms of the lengths of moments in seconds, and of where they start and end in their video"
    figure.describe(summary, ("of", "from", "to", "moments"), rows)


def clusters(figure: Sheet, values: dict) -> None:
    """t-SNE of the captions that cluster when coarse: before on the left, after on the right (`clusters.json`).

    If too few are similar, the figure shows each coarse caption's distance to its nearest one, and the threshold of a
    class.
    """
    sides = {"cog": "coarse", "fig": "fine"}
    points = {name: [point for point in values["points"] if point[name] is not None] for name in sides}
    names = [name for name in sides if points[name]]
    if not names:
        return _nearest(figure, values)
    rows = [(point["class"], *(point["cog"] or ("", "")), *(point["fig"] or ("", ""))) for point in values["points"]]
    summary = f"{len(rows)} captions of {values['classes']} classes of coarse captions, by t-SNE: " + "; ".join(
        f"{len(points[name])} {sides[name]} ones" for name in names
    )
    figure.describe(summary, ("class", "coarse x", "coarse y", "fine x", "fine y"), rows)
    for axis, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        x, y = zip(*(point[name] for point in points[name]), strict=True)
        classes = [point["class"] for point in points[name]]
        axis.scatter(x, y, s=14, c=classes, cmap="turbo", linewidths=0, rasterized=True)
        axis.set_xticks([])
        axis.set_yticks([])
        counted = f"{len(classes)} instances of {values['classes']} coarse classes"
        axis.set_xlabel(f"{sides[name]} captions\n({counted})")


def classes(figure: Sheet, values: dict) -> None:
    """The largest classes of coarse captions with their text, and the share of all captions in a class before and after
    fine-grained annotation (`many_to_many.json`).
    """
    axis = figure.subplots()
    largest = largest_classes(values)
    for place, (size, videos, caption) in enumerate(largest):
        axis.barh(place, size, color=COLOURS["soft"], height=0.3, align="edge")
        summary = f"{size} in {videos} videos: {caption}"
        axis.text(
            0.01,
            place - 0.08,
            literal(summary if len(summary) <= LONGEST else summary[: LONGEST - 1] + "…"),
            va="bottom",
            transform=axis.get_yaxis_transform(),
        )
    axis.set_ylim(min(len(values["cog"]["members"]), LARGEST) - 0.5, -0.5)
    axis.set_yticks([])
    sides = ((name, values[key]) for key, name in (("cog", "coarse"), ("fig", "fine")) if values.get(key))
    summary = [f"{side['instances']} of {side['captions']} {name} captions are in a class" for name, side in sides]
    axis.set_xlabel("\n".join(["captions of a class", *summary]))
    text = "; ".join(f"{size} in {videos} videos: {caption}" for size, videos, caption in largest)
    figure.describe(f"The largest classes of coarse captions. {text}", ("captions", "videos", "caption"), largest)
    axis.locator_params(axis="x", integer=True)


def largest_classes(values: dict) -> list[tuple[int, int, str]]:
    """(captions, videos, most frequent caption) of the `LARGEST` classes of coarse captions."""
    return [
        (row["size"], row["videos"], max(row["captions"], key=lambda caption: len(caption["desc_id"]))["caption"])
        for row in values["cog"]["members"][:LARGEST]
    ]


def _nearest(figure: Sheet, values: dict) -> None:
    axis = figure.subplots()
    edges, counts = values["nearest"]["edges"], values["nearest"]["counts"]
    axis.stairs(counts, edges, fill=True, color=COLOURS["soft"])
    needs = f"a class needs {values['min_samples']} captions within {values['distance']:g}"
    axis.axvline(values["distance"], color=COLOURS["false"], linestyle="--", label=needs)
    rows = [(float(low), float(high), count) for low, high, count in zip(edges, edges[1:], counts)]
    figure.describe(f"Distances of coarse captions to the next one; {needs}", ("from", "to", "captions"), rows)
    axis.set_xlabel("cosine distance of a coarse caption to the next one that differs")
    axis.set_ylabel("distinct coarse captions")
    axis.locator_params(axis="y", integer=True)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1))


def _note_on_missing_scores(values: dict) -> str:
    return "" if values["scores"] else f"None of the {values['captions']:,} captions has a score."


def _one_coarse_caption(values: dict) -> str:
    if any(point["cog"] for point in values["points"]) or values["nearest"]:
        return ""
    return f"All {values['captions']:,} moments share one coarse caption: there is no distance to another."


def _no_class(values: dict) -> str:
    if values["cog"]["members"]:
        return ""
    return f"None of the {values['cog']['captions']:,} coarse captions is like another one."


NOTHING = {confidence: _note_on_missing_scores, clusters: _one_coarse_caption, classes: _no_class}
"""Functions of a picture's values: the reason for a placeholder, or ""."""
