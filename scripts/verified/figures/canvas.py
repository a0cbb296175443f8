"""Canvas of all figures: colours that also differ in grey, glyphs drawn as outlines, reproducible bytes, a text
alternative, and their numbers as CSV."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from verified.figures.text import line_height, width_of, wrap
from verified.io.files import atomic_path
from verified.io.pages import DYNAMICS, FALSE, SOFT, STATICS
from verified.io.text_tables import write_csv

COLOURS = {
    "statics": STATICS,
    "dynamics": DYNAMICS,
    "coarse": "#1a1a1a",
    "none": "#1a1a1a",
    "false": FALSE,
    "soft": SOFT,
}
"""Green for statics, blue for dynamics, red for false captions, as in the paper; words also distinguish them."""
SERIES = (
    ("#1b7837", "o", "-"),
    ("#2166ac", "s", "--"),
    ("#b35806", "^", "-."),
    ("#762a83", "D", ":"),
    ("#1a1a1a", "v", "-"),
    ("#7a7a7a", "P", "--"),
)
"""Colour, marker and line of the first, second … series: any one of the three distinguishes them."""
LABEL = 16
"""Points of all labels: 8 when the figure is shown at half its size."""
WIDE = 11.2
"""Inches: the width of most figures."""
DPI = 120
"""Resolution of PNG files and of the layout: the width of a text depends on it."""
NOTE_WIDTH, NOTE_EDGE = 11.0, 0.1
"""Longest line of a note and its margin, in inches."""
STYLE = {
    "svg.fonttype": "path",
    "svg.hashsalt": "verified",
    "font.size": LABEL,
    "legend.fontsize": LABEL,
    "xtick.labelsize": LABEL,
    "ytick.labelsize": LABEL,
    "lines.linewidth": 2.5,
    "lines.markersize": 8,
    "axes.linewidth": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": LABEL,
    "figure.titlesize": LABEL,
    "legend.frameon": False,
}


class Sheet(Figure):
    """A figure with a description of its content in words and numbers."""

    alt: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()

    def describe(self, alt: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add the text alternative of the picture and the table of its numbers."""
        self.alt, self.header, self.rows = printable(alt), header, list(rows)


@contextlib.contextmanager
def drawing(paths: Iterable[str | os.PathLike], width: float, height: float, placed: bool = False) -> Iterator[Sheet]:
    """Yield an empty figure (inches) and save it under each of `paths`: its picture as SVG or PNG, its numbers as CSV.

    `placed`: the caller positions everything; else matplotlib lays out the axes. Raises ValueError if the figure has no
    text alternative (`Sheet.describe`).
    """
    with plt.rc_context(cast(dict[Any, Any], STYLE)):
        layout = "none" if placed else ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)
        figure = cast(Sheet, plt.figure(FigureClass=Sheet, figsize=(width, height), dpi=DPI, layout=layout))
        try:
            yield figure
            if not figure.alt:
                raise ValueError("a figure says what it shows: call describe")
            if not placed:
                _round_places(figure)
            for path in map(Path, paths):
                if path.suffix == ".csv":
                    _write_csv(path, figure)
                    continue
                metadata = {"Date": None, "Title": figure.alt} if path.suffix == ".svg" else {"Software": None}
                with atomic_path(path) as temporary:
                    figure.savefig(temporary, dpi=DPI, metadata=metadata)
                    if path.suffix == ".svg":
                        _one_picture(Path(temporary))
        finally:
            plt.close(figure)


def _one_picture(path: Path) -> None:
    """Let screen readers take an SVG for a picture that its title describes."""
    path.write_text(path.read_text(encoding="utf-8").replace("<svg ", '<svg role="img" ', 1), encoding="utf-8")


def _write_csv(path: Path, figure: Sheet) -> None:
    rows = ([round(value, 4) if isinstance(value, float) else value for value in row] for row in figure.rows)
    write_csv(path, [figure.header, *rows])


def draw_note(paths: Iterable[str | os.PathLike], text: str) -> None:
    """Placeholder with one line of text, for a figure without data."""
    lines = wrap(text, NOTE_WIDTH, LABEL)
    height = line_height(LABEL) * len(lines) + 2 * NOTE_EDGE
    width = max(width_of(line, LABEL) for line in lines) + 2 * NOTE_EDGE
    with drawing(paths, width, height, placed=True) as figure:
        figure.describe(text, ("note",), [(text,)])
        for number, line in enumerate(lines):
            top = 1 - (NOTE_EDGE + number * line_height(LABEL)) / height
            figure.text(NOTE_EDGE / width, top, literal(line), va="top", color=COLOURS["none"])


def _round_places(figure: Figure) -> None:
    """Round the places that the layout found: its last bits differ from run to run, and names in an SVG hash them."""
    for _ in range(2):  # the second time with the ticks that fit the places of the first
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        left, bottom, width, height = (round(side, 6) for side in axis.get_position(original=True).bounds)
        axis.set_position((left, bottom, width, height))


def direct_labels(axis, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Names at the right ends of lines, in place of a legend; `ends`: (x, y, colour) by name. Names that would touch
    are moved apart.
    """
    bottom, top = axis.get_ylim()
    tall = axis.get_position().height * axis.get_figure(root=True).get_figheight()
    least = 1.15 * line_height(LABEL) / tall * (top - bottom)
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
            xytext=(8, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )


def literal(text: str) -> str:
    """Text that is drawn verbatim: no formula mode, no characters that a font cannot draw as a line of text."""
    return printable(text).replace("$", r"\$")


def printable(text: str) -> str:
    """The text without characters that a font cannot draw, or a file cannot store, as a line of text."""
    letters = "".join(letter if letter.isprintable() else " " for letter in text)
    return letters.encode("utf-8", "replace").decode("utf-8")
