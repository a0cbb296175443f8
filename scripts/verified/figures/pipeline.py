"""One moment through the pipeline (after Figure 2), on one slide: inputs and outputs of each module."""

import os
from collections.abc import Iterable
from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from verified.figures.canvas import COLOURS, LABEL, drawing, literal, printable
from verified.figures.examples import Frames, Material, rank_candidates
from verified.figures.rows import add_picture
from verified.figures.text import fit_text, line_height, wrap
from verified.io.fig import TYPES

SLIDE = (16.0, 9.0)
"""Inches: a slide of 16 to 9."""
SIZES = (20.0, 18.0, float(LABEL))
HEAD = 0.45
PAD = 0.15
SHOWN = 3
"""Keyframes that are described, and questions."""

BOXES = {
    "moment": (0.2, 0.2, 2.7, 8.6),
    "statics": (3.4, 4.65, 5.7, 4.15),
    "dynamics": (3.4, 0.2, 5.7, 4.15),
    "perturbations": (9.6, 6.4, 6.2, 2.4),
    "evaluator": (9.6, 0.2, 6.2, 5.9),
}
"""Left, bottom, width and height of each module in inches."""
HEADS = {
    "moment": "A moment",
    "statics": "Statics: describe keyframes, caption",
    "dynamics": "Dynamics: ask, answer, caption",
    "perturbations": "Perturbations of the coarse caption",
    "evaluator": "Evaluator: scores every candidate",
}
ARROWS = (
    ("moment", "statics"),
    ("moment", "dynamics"),
    ("perturbations", "evaluator"),
    ("statics", "evaluator"),
    ("dynamics", "evaluator"),
)

Line = tuple[str, str, bool]
"""Text, colour's name, bold."""


def draw_pipeline(row: dict, frames: Frames, material: Material, paths: Iterable[str | os.PathLike]) -> None:
    """Draw the output of each module for the moment of annotation `row`."""
    with drawing(paths, *SLIDE, placed=True) as figure:
        for name, box in BOXES.items():
            _box(figure, box, HEADS[name])
        for start, end in ARROWS:
            _arrow(figure, BOXES[start], BOXES[end])
        _moment(figure, row, frames.get(row["desc_id"], []), material.location(row))
        written = _lines(row, material)
        box_texts = [(name, text) for name, lines in written.items() for text, _, _ in lines]
        alt = f"One moment through the pipeline: {row['cog_desc']}. Chosen: {row['fig_desc']}"
        figure.describe(alt, ("module", "text"), [("moment", row["cog_desc"]), *box_texts])
        for name, lines in written.items():
            left, bottom, width, height = BOXES[name]
            _write(figure, lines, (left, bottom, width, height - HEAD))


def _lines(row: dict, material: Material) -> dict[str, list[Line]]:
    ident = row["desc_id"]
    statics, dynamics = (material.captions.get((ident, kind), {}) for kind in TYPES)
    captions = {kind: [] for kind in TYPES}
    for entry in material.scores[ident]:
        captions[entry["type"]].append((f"• {entry['caption']}", entry["type"], False))
    described = [
        (f"{frame['time']:.1f} s: {frame['description']}", "soft", False)
        for frame in statics.get("keyframes", ())[:SHOWN]
    ]
    questions = [
        (f"{question} {answer}", "soft", False)
        for question, answer in list(zip(dynamics.get("questions", ()), dynamics.get("answers", ())))[:SHOWN]
    ]
    selected = material.perturbations.get(ident, {}).get("selected", {})
    perturbed = [
        (f"{label}: {selected[name]}", colour, False)
        for name, label, colour in (
            ("positive", "same meaning", "none"),
            ("statics", "statics perturbed", "false"),
            ("dynamics", "dynamics perturbed", "false"),
        )
        if selected.get(name)
    ]
    selected_caption = (row["fig_desc_type"], row["fig_desc"])
    scored = [
        (
            f"{entry['score']:.2f} {'chosen: ' if chosen else ''}{entry['caption']}",
            entry["type"],
            chosen,
        )
        for entry in rank_candidates(material.scores[ident])
        for chosen in [(entry["type"], entry["caption"]) == selected_caption]
    ]
    return {
        "statics": described + captions["statics"],
        "dynamics": questions + captions["dynamics"],
        "perturbations": perturbed,
        "evaluator": scored,
    }


def _box(figure, box: tuple, head: str) -> None:
    left, bottom, width, height = box
    across, up = SLIDE
    corner = (left / across, bottom / up)
    look: dict[str, Any] = {
        "boxstyle": "round,pad=0,rounding_size=0.008",
        "facecolor": "#f7f7f7",
        "edgecolor": "#888888",
    }
    patch = FancyBboxPatch(corner, width / across, height / up, zorder=-1, transform=figure.transFigure, **look)
    figure.add_artist(patch)
    text, size = fit_text(head, width - 2 * PAD, HEAD, SIZES, bold=True)
    figure.text((left + PAD) / across, (bottom + height - PAD) / up, text, size=size, weight="bold", va="top")


def _arrow(figure, start: tuple, end: tuple) -> None:
    """Arrow from the right edge of one box to the left edge of the next, or down if one is above the other."""
    across, up = SLIDE
    if start[0] == end[0]:
        begin, finish = (start[0] + start[2] / 2, start[1]), (end[0] + end[2] / 2, end[1] + end[3])
    else:
        height = max(start[1], end[1]) + min(start[3], end[3]) / 2
        begin, finish = (start[0] + start[2], height), (end[0], min(height, end[1] + end[3] - 0.3))
    points = [(x / across, y / up) for x, y in (begin, finish)]
    style = {"arrowstyle": "-|>", "mutation_scale": 22, "color": "#555555", "linewidth": 2.0}
    figure.add_artist(FancyArrowPatch(*points, shrinkA=0, shrinkB=0, transform=figure.transFigure, **style))


def _moment(figure, row: dict, frames: list, caption: str) -> None:
    left, bottom, width, height = BOXES["moment"]
    lines = [(f"“{row['cog_desc']}”", "none", True), (caption, "soft", False)]
    _write(figure, lines, (left, bottom + height - HEAD - 2.2, width, 2.2))
    room = height - HEAD - 2.3
    side = min(width - 2 * PAD, room / max(1, len(frames)) - 0.4)
    for number, (time, image) in enumerate(frames):
        shape = image.width / image.height
        wide, high = (side, side / shape) if shape > 1 else (side * shape, side)
        top = bottom + room - number * (room / len(frames))
        add_picture(figure, image, (left + (width - wide) / 2, top - 0.32 - high, wide, high), f"{time:.1f} s")


def _write(figure, lines: list[Line], box: tuple) -> None:
    """Lines from the top of a box, all in the largest size at which they fit. If no size fits, the longest texts are
    cut, captions last.
    """
    left, bottom, width, height = box
    inside = (width - 2 * PAD - 0.1, height - 2 * PAD)
    texts = [(printable(text), colour, bold) for text, colour, bold in lines]
    size = SIZES[-1]
    for size in SIZES:
        blocks = [fit_text(text, inside[0], inside[1], (size,), bold)[0] for text, _, bold in texts]
        needed = sum(line_height(size) * (block.count("\n") + 1) + 0.05 for block in blocks)
        if needed <= inside[1]:
            break
    else:
        counts = [len(wrap(text, inside[0], size, bold)) for text, _, bold in texts]
        room = int((inside[1] - 0.05 * len(texts)) / line_height(size))
        while sum(counts) > room and max(counts) > 1:
            longest = max(range(len(texts)), key=lambda number: (counts[number], texts[number][1] == "soft", number))
            counts[longest] -= 1
        blocks = [
            fit_text(text, inside[0], (lines + 0.5) * line_height(size), (size,), bold)[0]
            for (text, _, bold), lines in zip(texts, counts)
        ]
    top = bottom + height - PAD
    for block, (_, colour, bold) in zip(blocks, texts):
        figure.text(
            (left + PAD) / SLIDE[0],
            top / SLIDE[1],
            "\n".join(map(literal, block.split("\n"))),
            size=size,
            color=COLOURS[colour],
            va="top",
            linespacing=1.15,
            weight="bold" if bold else "normal",
        )
        top -= line_height(size) * (block.count("\n") + 1) + 0.05
