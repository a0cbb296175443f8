"""What all figures share: colours that also differ in grey, glyphs drawn as outlines, the same bytes each time."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from verified.figures.text import line_height, width_of, wrap
from verified.io.files import atomic_path
from verified.io.palette import DYNAMICS, FALSE, SOFT, STATICS

COLOURS = {
    "statics": STATICS,
    "dynamics": DYNAMICS,
    "coarse": "#1a1a1a",
    "none": "#1a1a1a",
    "false": FALSE,
    "soft": SOFT,
}
"""Green for statics, blue for dynamics, red for what is false, as in the paper; words also say which is which."""
SERIES = (
    ("#1b7837", "o", "-"),
    ("#2166ac", "s", "--"),
    ("#b35806", "^", "-."),
    ("#762a83", "D", ":"),
    ("#1a1a1a", "v", "-"),
    ("#7a7a7a", "P", "--"),
)
"""Colour, marker and line of the first, second … series: any one of the three distinguishes them."""
NOTE_WIDTH, NOTE_SIZE, NOTE_EDGE = 6.2, 9, 0.1
"""Of a note: its longest line in inches, points of its text, inches around it."""
STYLE = {
    "svg.fonttype": "path",
    "svg.hashsalt": "verified",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "legend.frameon": False,
}


@contextlib.contextmanager
def drawing(paths: Iterable[str | os.PathLike], width: float, height: float, placed: bool = False) -> Iterator[Figure]:
    """Yield an empty figure (inches) and save it under each of `paths`, the format by their ending.

    `placed`: the caller positions everything; else matplotlib lays out the axes.
    """
    with plt.rc_context(cast(dict[Any, Any], STYLE)):
        figure = plt.figure(figsize=(width, height), layout="none" if placed else "constrained")
        try:
            yield figure
            if not placed:
                _settle(figure)
            for path in paths:
                undated = {"Date": None} if str(path).endswith("svg") else {"Software": None}
                with atomic_path(path) as temporary:
                    figure.savefig(temporary, dpi=120, metadata=undated)
        finally:
            plt.close(figure)


def draw_note(paths: Iterable[str | os.PathLike], text: str) -> None:
    """A line of text on a sheet no larger than it: what is there instead, where there is nothing to plot."""
    lines = wrap(text, NOTE_WIDTH, NOTE_SIZE)
    height = line_height(NOTE_SIZE) * len(lines) + 2 * NOTE_EDGE
    width = max(width_of(line, NOTE_SIZE) for line in lines) + 2 * NOTE_EDGE
    with drawing(paths, width, height, placed=True) as figure:
        for number, line in enumerate(lines):
            top = 1 - (NOTE_EDGE + number * line_height(NOTE_SIZE)) / height
            figure.text(NOTE_EDGE / width, top, literal(line), size=NOTE_SIZE, va="top", color=COLOURS["none"])


def _settle(figure: Figure) -> None:
    """Round the places that the layout found: its last bits differ from run to run, and names in an SVG hash them."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        left, bottom, width, height = (round(side, 6) for side in axis.get_position(original=True).bounds)
        axis.set_position((left, bottom, width, height))


def direct_labels(axis, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Names beside the right ends of lines, in place of a legend; `ends`: (x, y, colour) by name. Names that would
    touch are moved apart."""
    bottom, top = axis.get_ylim()
    least = 0.085 * (top - bottom)
    places, free = {}, bottom - least
    for name, (_, y, _) in sorted(ends.items(), key=lambda entry: entry[1][1]):
        places[name] = free = max(y, free + least)
    free = top + least
    for name in reversed(list(places)):
        places[name] = free = min(places[name], free - least)
    for name, (_, _, colour) in ends.items():
        axis.annotate(
            literal(name),
            (1.0, places[name]),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )


def literal(text: str) -> str:
    """Text that is drawn verbatim: no formula mode, nothing that a font cannot draw as a line of text."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.encode("utf-8", "replace").decode("utf-8").replace("$", r"\$")
