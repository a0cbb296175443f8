"""One moment through the pipeline (after Figure 2), on one slide: what goes into each module and what comes out."""

import os
from collections.abc import Iterable
from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from verified.figures.canvas import COLOURS, drawing, literal
from verified.figures.examples import Frames, Material, rank_candidates
from verified.figures.rows import add_picture
from verified.figures.text import fit_text, line_height
from verified.io.fig import TYPES

SLIDE = (12.8, 7.2)
"""Inches: a slide of 16 to 9."""
SIZES = (11.0, 10.0, 9.0, 8.0, 7.0, 6.0)
HEAD = 0.32
PAD = 0.12

BOXES = {
    "moment": (0.2, 0.2, 2.5, 6.8),
    "statics": (3.1, 3.7, 4.3, 3.3),
    "dynamics": (3.1, 0.2, 4.3, 3.3),
    "perturbations": (7.8, 4.9, 4.8, 2.1),
    "evaluator": (7.8, 0.2, 4.8, 4.5),
}
"""Left, bottom, width and height of each module in inches."""
HEADS = {
    "moment": "A moment",
    "statics": "Statics: describe keyframes, then caption",
    "dynamics": "Dynamics: ask, answer from frames, caption",
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
    """Draw what each module made of the moment of annotation `row`."""
    with drawing(paths, *SLIDE, placed=True) as figure:
        for name, box in BOXES.items():
            _box(figure, box, HEADS[name])
        for start, end in ARROWS:
            _arrow(figure, BOXES[start], BOXES[end])
        _moment(figure, row, frames.get(row["desc_id"], []), material.location(row))
        for name, lines in _lines(row, material).items():
            left, bottom, width, height = BOXES[name]
            _write(figure, lines, (left, bottom, width, height - HEAD))


def _lines(row: dict, material: Material) -> dict[str, list[Line]]:
    ident = row["desc_id"]
    statics, dynamics = (material.captions.get((ident, kind), {}) for kind in TYPES)
    captions = {kind: [] for kind in TYPES}
    for entry in material.scores[ident]:
        captions[entry["type"]].append((f"• {entry['caption']}", entry["type"], False))
    described = [
        (f"{frame['time']:.1f} s: {frame['description']}", "soft", False) for frame in statics.get("keyframes", ())
    ]
    asked = [
        (f"{question} {answer}", "soft", False)
        for question, answer in zip(dynamics.get("questions", ()), dynamics.get("answers", ()))
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
            f"{entry['score']:.2f}  {entry['caption']}",
            entry["type"],
            (entry["type"], entry["caption"]) == selected_caption,
        )
        for entry in rank_candidates(material.scores[ident])
    ]
    return {
        "statics": described + captions["statics"],
        "dynamics": asked + captions["dynamics"],
        "perturbations": perturbed,
        "evaluator": [(text + ("  (chosen)" if bold else ""), kind, bold) for text, kind, bold in scored],
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
    text, size = fit_text(head, width - 2 * PAD, HEAD, (11.0, 10.0, 9.0, 8.0), bold=True)
    figure.text((left + PAD) / across, (bottom + height - PAD) / up, text, size=size, weight="bold", va="top")


def _arrow(figure, start: tuple, end: tuple) -> None:
    """From the right edge of one box to the left edge of the next, or down where one is above the other."""
    across, up = SLIDE
    if start[0] == end[0]:
        begin, finish = (start[0] + start[2] / 2, start[1]), (end[0] + end[2] / 2, end[1] + end[3])
    else:
        height = max(start[1], end[1]) + min(start[3], end[3]) / 2
        begin, finish = (start[0] + start[2], height), (end[0], min(height, end[1] + end[3] - 0.3))
    points = [(x / across, y / up) for x, y in (begin, finish)]
    style = {"arrowstyle": "-|>", "mutation_scale": 14, "color": "#555555", "linewidth": 1.4}
    figure.add_artist(FancyArrowPatch(*points, shrinkA=0, shrinkB=0, transform=figure.transFigure, **style))


def _moment(figure, row: dict, frames: list, caption: str) -> None:
    left, bottom, width, height = BOXES["moment"]
    lines = [(f"“{row['cog_desc']}”", "none", True), (caption, "soft", False)]
    _write(figure, lines, (left, bottom + height - HEAD - 1.3, width, 1.3))
    room = height - HEAD - 1.4
    side = min(width - 2 * PAD, room / max(1, len(frames)) - 0.22)
    for number, (time, image) in enumerate(frames):
        shape = image.width / image.height
        wide, high = (side, side / shape) if shape > 1 else (side * shape, side)
        top = bottom + room - number * (room / len(frames))
        add_picture(
            figure, image, (left + (width - wide) / 2, top - 0.18 - high, wide, high), f"keyframe at {time:.1f} s"
        )


def _write(figure, lines: list[Line], box: tuple) -> None:
    """Lines from the top of a box, all in the largest size at which they fit; each gets room by its length."""
    left, bottom, width, height = box
    inside = (width - 2 * PAD, height - 2 * PAD)
    texts = [(literal(text).replace(r"\$", "$"), colour, bold) for text, colour, bold in lines]
    for size in SIZES:
        blocks = [fit_text(text, inside[0], inside[1], (size,), bold)[0] for text, _, bold in texts]
        needed = sum(line_height(size) * (block.count("\n") + 1) + 0.05 for block in blocks)
        if needed <= inside[1]:
            break
    else:
        share = inside[1] / max(1, len(texts)) - 0.05
        blocks = [fit_text(text, inside[0], share, (size,), bold)[0] for text, _, bold in texts]
    top = bottom + height - PAD
    for block, (_, colour, bold) in zip(blocks, texts):
        figure.text(
            (left + PAD) / SLIDE[0],
            top / SLIDE[1],
            literal_lines(block),
            size=size,
            color=COLOURS[colour],
            va="top",
            linespacing=1.15,
            weight="bold" if bold else "normal",
        )
        top -= line_height(size) * (block.count("\n") + 1) + 0.05


def literal_lines(block: str) -> str:
    """Lines of text drawn verbatim."""
    return "\n".join(map(literal, block.split("\n")))
