"""Figures 3 to 6 of the MAD paper for the data sets at hand."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from verified.figures.canvas import SERIES, drawing, literal


def draw_moments(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Figures 3 and 5: where moments start and end by the video's length, and how long they are.

    groups: (label, histograms as `statistics.describe` gives them), one line each.
    """
    with drawing(paths, 9.0, 2.8) as figure:
        axes = figure.subplots(1, 3)
        for axis, name, label in zip(
            axes, ("start", "end", "seconds"), ("start / video length", "end / video length", "moment in seconds")
        ):
            for number, (title, histograms) in enumerate(groups):
                _line(axis, histograms[name], title, number)
            axis.set_xlabel(label)
            axis.set_ylabel("share of moments")
        axes[2].legend(fontsize=7)


def draw_sentences(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Figure 6: length of sentences in tokens."""
    with drawing(paths, 4.5, 2.8) as figure:
        axis = figure.subplots()
        for number, (title, histograms) in enumerate(groups):
            _line(axis, histograms["tokens"], title, number)
        axis.set_xlabel("tokens of a sentence")
        axis.set_ylabel("share of sentences")
        axis.legend(fontsize=7)


def _line(axis, histogram: Mapping, title: str, number: int) -> None:
    """One group's shares; what lies beyond the last bin of a histogram of lengths is written, not drawn as a peak."""
    shares = np.array(histogram["counts"], float)
    shares /= max(1.0, shares.sum())
    if histogram["width"] >= 1:  # lengths, whose last bin is open; positions end with the video
        beyond, shares = shares[-1], np.trim_zeros(shares[:-1], "b")
        if beyond:
            title = f"{title} ({100 * beyond:.2g} % longer)"
    edges = np.arange(len(shares) + 1) * histogram["width"]
    colour, _, style = SERIES[number % len(SERIES)]
    axis.stairs(shares, edges, label=literal(title), color=colour, linestyle=style)


def draw_lengths(
    curves: Sequence[tuple[str, Sequence[float | None], Mapping[int, Sequence[float]]]],
    paths: Iterable[str | os.PathLike],
) -> None:
    """Figure 4: recall at IoU 0.5 by the length of the video.

    curves: (label, lengths in seconds, None for whole movies, {K: recall in percent per length}).
    """
    with drawing(paths, 6.4, 3.0) as figure:
        axes = figure.subplots(1, 2)
        for axis, k in zip(axes, (1, 5)):
            for number, (title, lengths, values) in enumerate(curves):
                colour, marker, style = SERIES[number % len(SERIES)]
                axis.plot(
                    range(len(lengths)),
                    values[k],
                    color=colour,
                    marker=marker,
                    linestyle=style,
                    label=literal(title),
                    markersize=4,
                )
            shown = ["movie" if seconds is None else f"{seconds:g} s" for seconds in curves[0][1]] if curves else []
            axis.set_xticks(range(len(shown)), shown, rotation=45, fontsize=7)
            axis.set_xlabel("length of the video")
            axis.set_ylabel(f"R@{k}, IoU=0.5, %")
        axes[0].legend(fontsize=7)
